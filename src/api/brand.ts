/** The brand of the account (addition): its logo, colours, fonts and buttons, with which the designer begins. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq } from 'drizzle-orm';
import Type from 'typebox';
import { ownedRecord } from '../database/ownership.ts';
import { BRAND_FONTS, BUTTON_SHAPES, pictures } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { MAX_COLOURS, readBrand, saveBrand } from '../designs/brand.ts';
import { messages } from '../field-errors.ts';
import {
  choice,
  done,
  integer,
  isoTimestampSchema,
  nullable,
  optionalReference,
  stringList,
  successWith,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { sentence } from '../sentences.ts';
import { audit } from '../users/audit.ts';

const tags = ['Brand'];
const COLOUR = /^#[0-9a-f]{6}$/i;

const Brand = Type.Object({
  logo_picture_id: nullable(integer()),
  logo_url: nullable(Type.String()),
  colours: Type.Array(Type.String()),
  text_font: choice(...BRAND_FONTS),
  heading_font: choice(...BRAND_FONTS),
  button_shape: choice(...BUTTON_SHAPES),
  updated_at: nullable(isoTimestampSchema()),
});

const NewBrand = Type.Object({
  logo_picture_id: optionalReference(),
  colours: Type.Optional(
    stringList({ maxItems: MAX_COLOURS, description: 'Such as #1d5b46; empty ones are left out.' }),
  ),
  text_font: choice(...BRAND_FONTS),
  heading_font: choice(...BRAND_FONTS),
  button_shape: choice(...BUTTON_SHAPES),
});

export const brandRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, clock, publicUrl } = deps;

  app.get(
    '/brand',
    {
      schema: {
        tags,
        summary: 'Read the brand (addition)',
        description: 'New blocks in the designer have its logo, colours, fonts and shape of buttons.',
        response: successWith({ brand: Brand }),
      },
    },
    async ({ accountId }) => {
      const brand = readBrand(db, accountId);
      const id = brand.logo_picture_id;
      const logo = id === null ? undefined : db.select().from(pictures).where(eq(pictures.id, id)).get();
      const logo_url = logo === undefined ? null : `${publicUrl()}/pictures/${logo.public_id}/${logo.file_name}`;
      return { status: 'success' as const, message: { brand: { ...brand, logo_url } } };
    },
  );

  app.post(
    '/brand/save',
    {
      schema: {
        tags,
        summary: 'Change the brand (addition)',
        description: 'Mails that exist stay as they are.',
        body: NewBrand,
        response: done,
      },
      config: {
        check: check(NewBrand, ({ logo_picture_id: id = 0, colours = [] }, errors, { accountId }) => {
          const isOwn = () =>
            db
              .select({ id: pictures.id })
              .from(pictures)
              .where(ownedRecord(pictures, id, accountId))
              .get();
          if (id !== 0 && isOwn() === undefined) errors.add('logo_picture_id', messages.selected('logo_picture_id'));
          const wrong = colours.find((colour) => colour.trim() !== '' && !COLOUR.test(colour.trim()));
          if (wrong !== undefined) errors.add('colours', sentence('colour_wrong', { name: wrong }));
        }),
      },
    },
    async ({ accountId, actor, body }) => {
      const { logo_picture_id = 0, colours = [], text_font, heading_font, button_shape } = body;
      const brand = {
        logo_picture_id: logo_picture_id || null,
        colours: colours.map((colour) => colour.trim().toLowerCase()).filter(Boolean),
        ...{ text_font, heading_font, button_shape },
      };
      db.transaction(
        () => {
          saveBrand(deps, accountId, brand);
          audit(db, { accountId, actor, action: 'brand_changed' }, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};
