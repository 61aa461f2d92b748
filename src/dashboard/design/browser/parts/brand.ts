/** An account's brand, as the designer uses it. */

/** What the server says about the brand; empty where the account has chosen nothing. */
export interface BrandChoice {
  logo: { src: string; alt: string; width: number } | null;
  /** Colours such as #1d5b46; the first is that of buttons and links. */
  colours: string[];
  text_font: string;
  heading_font: string;
  button_shape: 'square' | 'rounded' | 'pill';
}

/** The brand with a value for everything. */
export interface Brand {
  logo: BrandChoice['logo'];
  colours: string[];
  /** Stacks of fonts. */
  text: string;
  heading: string;
  /** Colours: of buttons and links, of text, and of quiet areas. */
  accent: string;
  ink: string;
  soft: string;
  shape: BrandChoice['button_shape'];
}

const ACCENT = '#1f5f8b';
const INK = '#1b2129';
const SOFT = '#eef2f5';
const FONT = 'Arial, Helvetica, sans-serif';
/** The contrast that WCAG 2.2 (1.4.3) asks of text. */
const LEGIBLE = 4.5;

/** Fills in what the account has not chosen. */
export function completeBrand(choice: BrandChoice | undefined): Brand {
  const colours = choice?.colours ?? [];
  // On a light ground, text needs a dark colour.
  const accent = colours[0] ?? ACCENT;
  return {
    logo: choice?.logo ?? null,
    colours,
    text: choice?.text_font || FONT,
    heading: choice?.heading_font || choice?.text_font || FONT,
    accent,
    ink: colours.slice(1).find((colour) => contrast(colour, SOFT) >= 7) ?? INK,
    soft: colours.slice(1).find((colour) => contrast(colour, INK) >= 12 && contrast(colour, accent) >= LEGIBLE) ?? SOFT,
    shape: choice?.button_shape ?? 'rounded',
  };
}

/** The corners of buttons. */
export function buttonRadius({ shape }: Brand): string {
  return { square: '0', rounded: '6px', pill: '24px' }[shape];
}

/** White or black, whichever is easier to read on a colour. */
export function legibleOn(colour: string): string {
  return contrast(colour, '#ffffff') >= LEGIBLE ? '#ffffff' : '#000000';
}

/** The contrast of two colours in six hexadecimal digits, 1 to 21 (WCAG 2.2, contrast ratio). */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
