/**
 * Operations for the account's brand (additions to the contract): its logo, colours, fonts and shape of buttons.
 */
import { eq } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { isOwned } from '../../database/ownership.ts';
import { BRAND_FONTS, BUTTON_SHAPES, pictures } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  integer,
  isoTimestampSchema,
  nullable,
  optionalReference,
  stringList,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';
import { COLOUR, MAX_COLOURS, readBrand, saveBrand } from './brand.ts';

/** The fields that the brand and a change of the brand have in common. */
const Look = {
  text_font: { ...choice(...BRAND_FONTS), description: 'Font of texts and buttons.' },
  heading_font: { ...choice(...BRAND_FONTS), description: 'Font of headings.' },
  button_shape: { ...choice(...BUTTON_SHAPES), description: 'The corners of buttons.' },
};

const Brand = Type.Object({
  logo_picture_id: nullable(integer(), 'Id of the image that is the logo; null: no logo.'),
  logo_url: nullable(Type.String(), 'URL of the logo for e-mails; null: no logo.'),
  colours: Type.Array(Type.String(), {
    description: 'Up to six colours such as #1d5b46. Buttons and links have the first colour.',
  }),
  ...Look,
  updated_at: nullable(isoTimestampSchema(), 'When the brand was last changed, UTC; null: it was never changed.'),
});

export type Brand = Static<typeof Brand>;

export const readBrandWithLogo = operation({
  name: 'Read the brand (addition)',
  description: 'New blocks in the designer have the logo, colours, fonts and button shape of the brand.',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ brand: Brand }),
  run({ db, accountId, publicUrl }) {
    const brand = readBrand(db, accountId);
    const id = brand.logo_picture_id;
    const logo = id === null ? undefined : db.select().from(pictures).where(eq(pictures.id, id)).get();
    const logo_url = logo === undefined ? null : `${publicUrl()}/pictures/${logo.public_id}/${logo.file_name}`;
    return { brand: { ...brand, logo_url } };
  },
});

export const changeBrand = operation({
  name: 'Change the brand (addition)',
  description: 'Existing e-mails stay as they are. A logo and colours that are not sent are removed from the brand.',
  role: 'editor',
  input: Type.Object({
    logo_picture_id: Type.Optional(
      Type.Unsafe<number>({ ...optionalReference(), description: 'Id of the image that is the logo; 0: no logo.' }),
    ),
    colours: Type.Optional(
      stringList({ maxItems: MAX_COLOURS, description: 'Colours such as #1d5b46; empty texts are skipped.' }),
    ),
    ...Look,
  }),
  check({ db, accountId }, { logo_picture_id: id = 0, colours = [] }, errors) {
    if (id !== 0) errors.reference('logo_picture_id', () => isOwned(db, pictures, id, accountId));
    const invalid = colours.find((colour) => colour.trim() !== '' && !COLOUR.test(colour.trim()));
    if (invalid !== undefined) errors.add('colours', sentence('colour_wrong', { name: invalid }));
  },
  run(context, { logo_picture_id = 0, colours = [], ...look }) {
    const brand = {
      ...look,
      logo_picture_id: logo_picture_id || null,
      colours: colours.map((colour) => colour.trim().toLowerCase()).filter(Boolean),
    };
    const change = () => {
      saveBrand(context, context.accountId, brand);
      auditBy(context, 'brand_changed');
    };
    inTransaction(context.db, change);
  },
});
