/** The settings page of the brand: the logo, colours, fonts and shape of buttons that new blocks of mails have. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BRAND_FONTS, BUTTON_SHAPES } from '../../../database/schema/index.ts';
import { legibleOn } from '../../../delivery/content/contrast.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button } from '../../../ui/components/button.tsx';
import { type Problems, SelectField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { ask, attempt, type Refusal } from '../../../ui/operations.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { listPictures, type Picture } from '../../pictures/operations.ts';
import { COLOUR, MAX_COLOURS } from '../brand.ts';
import { type Brand, changeBrand, readBrandWithLogo } from '../operations.ts';

/** The maximum number of images that are offered as the logo: the newest ones. */
const MAX_OFFERED = 200;
/** The corner radius of the sample's button in pixels, by shape. */
const RADIUS = { square: 0, rounded: 6, pill: 20 } as const;

/** The brand as it is stored or as it was typed. */
type ShownBrand = { [Name in keyof Omit<Brand, 'updated_at'>]: Brand[Name] extends string ? string : Brand[Name] };

/** Registers the settings page of the brand. */
export async function brandScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/settings/brand', (request, reply) => show(request, reply));

  app.post('/settings/brand', async (request, reply) => {
    requireEditor(request);
    const values = {
      logo_picture_id: Number(field(request, 'logo_picture_id')) || null,
      colours: Array.from({ length: MAX_COLOURS }, (_, index) => field(request, `colour_${index + 1}`).trim()),
      text_font: field(request, 'text_font'),
      heading_font: field(request, 'heading_font'),
      button_shape: field(request, 'button_shape'),
    };
    const saved = await attempt(request, changeBrand, { ...values, logo_picture_id: values.logo_picture_id ?? 0 });
    if ('output' in saved) return backTo(reply, 'brand', 'settings.done.brandSaved');
    return show(request, reply.code(saved.status), values, saved);
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    values: Partial<ShownBrand> = {},
    { problems = {}, problem = '' }: Partial<Refusal> = {},
  ) {
    const [{ brand }, pictures] = await Promise.all([
      ask(request, readBrandWithLogo, {}),
      ask(request, listPictures, { order: 'newest', limit: MAX_OFFERED }),
    ]);
    const mayChange = viewerOf(request).role !== 'viewer';
    const form = <BrandForm brand={{ ...brand, ...values }} {...{ pictures, problems, mayChange }} />;
    return sendSettings(request, reply, 'brand', form, problem);
  }
}

interface FormProps {
  brand: ShownBrand;
  pictures: readonly Picture[];
  problems: Problems;
  mayChange: boolean;
}

function BrandForm({ brand, pictures, problems, mayChange }: FormProps) {
  const language = useLanguage();
  const { logo_picture_id: logoId, logo_url } = brand;
  // An older logo is not among the pictures that are offered, so it gets an option of its own.
  const isOlder = logoId !== null && !pictures.some(({ id }) => id === logoId);
  const fonts = BRAND_FONTS.map((font) => ({ value: font, label: font }));
  return (
    <div class="stack">
      <p class="quiet-text">{language.say('brand.about')}</p>
      <Card title={language.say('brand.sample')}>
        {logo_url !== null && (
          <p>
            <img class="brand-logo" src={new URL(logo_url).pathname} alt={language.say('brand.logo')} />
          </p>
        )}
        <Sample brand={brand} />
      </Card>
      <Card>
        <form method="post" action="/settings/brand" class="narrow">
          <fieldset disabled={!mayChange} class="bare-fieldset">
            <SelectField
              name="logo_picture_id"
              label={language.say('brand.logo')}
              hint={
                <>
                  {language.say('brand.logo.hint')} <a href="/images">{language.say('images.file')}</a>
                </>
              }
              options={[
                { value: '', label: language.say('brand.logo.none') },
                ...(isOlder ? [{ value: String(logoId), label: language.say('brand.logo') }] : []),
                ...pictures.map(({ id, name }) => ({ value: String(id), label: name })),
              ]}
              value={String(logoId ?? '')}
              problems={problems}
            />
            <Colours colours={brand.colours} problems={problems} />
            {(['heading_font', 'text_font'] as const).map((name) => (
              <SelectField
                key={name}
                name={name}
                label={language.say(`brand.${name}`)}
                hint={language.say('brand.font.hint')}
                options={fonts}
                value={brand[name]}
                problems={problems}
              />
            ))}
            <SelectField
              name="button_shape"
              label={language.say('brand.button_shape')}
              options={BUTTON_SHAPES.map((shape) => ({ value: shape, label: language.say(`brand.shape.${shape}`) }))}
              value={brand.button_shape}
              problems={problems}
            />
            {mayChange && <Button label={language.say('compose.save')} />}
          </fieldset>
        </form>
      </Card>
    </div>
  );
}

function Colours({ colours, problems }: Pick<FormProps, 'problems'> & { colours: readonly string[] }) {
  const language = useLanguage();
  const problem = problems.colours?.join(' ');
  return (
    <Island name="colours">
      <fieldset class="brand-colours" aria-describedby={problem ? 'colours-hint colours-problem' : 'colours-hint'}>
        <legend>{language.say('brand.colours')}</legend>
        <p class="hint" id="colours-hint">
          {language.say('brand.colours.hint')}
        </p>
        {Array.from({ length: MAX_COLOURS }, (_, index) => index + 1).map((number) => (
          <div key={number}>
            <input
              type="text"
              name={`colour_${number}`}
              value={colours[number - 1] ?? ''}
              maxLength={7}
              spellcheck={false}
              autocomplete="off"
              aria-label={language.say('brand.colour', { number })}
            />
            <input
              type="color"
              value={COLOUR.test(colours[number - 1] ?? '') ? colours[number - 1] : '#808080'}
              aria-label={language.say('brand.colour', { number })}
              hidden
            />
          </div>
        ))}
        {problem && (
          <p class="problem" id="colours-problem">
            {problem}
          </p>
        )}
      </fieldset>
    </Island>
  );
}

/** A heading, a text and a button in the brand. They are drawn as SVG, so that they need no style attributes. */
function Sample({ brand }: { brand: ShownBrand }) {
  const language = useLanguage();
  const { heading_font: heading, text_font: text, button_shape: shape } = brand;
  const colours = brand.colours.filter((colour) => COLOUR.test(colour));
  const accent = colours[0] ?? '#1f5f8b';
  const radius = RADIUS[BUTTON_SHAPES.find((known) => known === shape) ?? 'rounded'];
  return (
    <svg class="brand-sample" viewBox="0 0 320 150" role="img" aria-label={language.say('brand.sample')}>
      <rect width="320" height="150" fill="#ffffff" />
      {colours.map((colour, index) => (
        <rect key={colour} x={index * 40} width="40" height="12" fill={colour} />
      ))}
      <text x="16" y="48" font-family={heading} font-size="22" font-weight="700" fill="#1b2129">
        {language.say('brand.sample.heading')}
      </text>
      <text x="16" y="76" font-family={text} font-size="15" fill="#1b2129">
        {language.say('brand.sample.text')}{' '}
        <tspan fill={accent} text-decoration="underline">
          {language.say('brand.sample.link')}
        </tspan>
      </text>
      <rect x="16" y="94" width="150" height="40" rx={radius} fill={accent} />
      <text
        x="91"
        y="119"
        text-anchor="middle"
        font-family={text}
        font-size="15"
        font-weight="700"
        fill={legibleOn(accent)}
      >
        {language.say('brand.sample.button')}
      </text>
    </svg>
  );
}
