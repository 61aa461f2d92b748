/**
 * An owner's logo and colour on public pages. Whatever the colour is, text in it or on it keeps a contrast of at least
 * 4.5 : 1 (WCAG 2.2, 1.4.3).
 */
import { contrast, hexDigits, LEGIBLE, legibleOn, luminance } from '../../delivery/content/contrast.ts';
import type { PublicBrand } from '../../templates/brand/brand.ts';

/** The background colours of content in light and dark mode, as in the style sheet of public pages: six hexadecimal digits. */
const CARD = { light: 'ffffff', dark: '1a1e1d' };
/** The share of black or white that each step adds to a colour until its contrast suffices. */
const STEP = 0.04;

/** Returns the rules that follow the style sheet of public pages; empty without a brand. The colour has the form #1d5b46. */
export function brandStyle({ colour, logo }: PublicBrand): string {
  const accent = (name: 'light' | 'dark') => {
    const shown = readable(colour, CARD[name]);
    return `:root{--accent:${shown};--on-accent:${legibleOn(shown)}}`;
  };
  const coloured = colour === '' ? '' : `${accent('light')}@media(prefers-color-scheme:dark){${accent('dark')}}`;
  // A logo may be dark without a background of its own, so a dark page shows it on a light background.
  const logoStyle =
    logo === null
      ? ''
      : '.logo{margin:0 0 1.25rem}.logo img{max-width:100%;height:auto;vertical-align:bottom}@media(prefers-color-scheme:dark){.logo img{padding:.5rem;border-radius:9px;background:#fff}}';
  return coloured + logoStyle;
}

/** The logo above the content; nothing if the owner has no logo. */
export function Logo({ brand: { logo } }: { brand: PublicBrand }) {
  if (logo === null) return null;
  return (
    <p class="logo">
      <img src={logo.path} alt={logo.alt} width={logo.width} height={logo.height} />
    </p>
  );
}

/** Returns the colour, or the nearest mixture with black or white that can be read on this background. */
function readable(colour: string, ground: string): string {
  const target = luminance(ground) > 0.5 ? 0 : 255;
  const digits = hexDigits(colour) ?? '';
  const parts = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  for (let share = 0; share < 1; share += STEP) {
    const mixed = hex(parts.map((part) => part + (target - part) * share));
    if (contrast(mixed, ground) >= LEGIBLE) return `#${mixed}`;
  }
  return `#${hex([target, target, target])}`;
}

function hex(parts: readonly number[]): string {
  return parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('');
}
