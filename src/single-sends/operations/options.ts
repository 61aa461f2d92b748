/** Optional parameters that several operations on single sends have. */
import Type from 'typebox';
import { flag, integer } from '../../http/requests/schemas.ts';

const MAX_CANARY_PERCENT = 5;
const MIN_CANARY_MINUTES = 5;
const MAX_CANARY_MINUTES = 1440;
const DEFAULT_CANARY_MINUTES = 30;

/** Besides A, the mail itself. */
export const MAX_VARIANTS = 3;

/** The number of a variant of an A/B test, where it need not be given. */
export const variantNumber = (description: string) => Type.Optional(integer({ maximum: MAX_VARIANTS, description }));

const canaryPercent = () =>
  integer({
    maximum: MAX_CANARY_PERCENT,
    description: 'So many percent of the recipients get it first, the rest if all goes well; 0: everybody at once.',
  });
const canaryMinutes = () =>
  integer({
    minimum: MIN_CANARY_MINUTES,
    maximum: MAX_CANARY_MINUTES,
    description: 'How many minutes the rest waits after the first recipients; 30 if never given.',
  });
/** The optional parameters of a single send about its canary; an empty text gives the default. */
export const canaryOptions = {
  canary_percent: Type.Optional(Type.Unsafe<number>({ ...canaryPercent(), empty: 0 })),
  canary_minutes: Type.Optional(Type.Unsafe<number>({ ...canaryMinutes(), empty: DEFAULT_CANARY_MINUTES })),
};

/** The optional parameter of a single send or an automation that is not limited; an empty text means 0. */
export const capOption = {
  ignores_caps: Type.Optional(
    Type.Unsafe<0 | 1>({
      ...flag('Addition. 1: it goes also to people who have had as many mails as the limits of the account allow.'),
      empty: 0,
    }),
  ),
};
