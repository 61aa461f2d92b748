/** The subject of a mail in a list, in which merge tags are shown as what they become. */
import { scan } from '../../delivery/content/merge.ts';
import { type Language, useLanguage } from '../words/index.ts';
import { fieldLabel } from '../words/known.ts';

/** The subject with the default of each merge tag, or the name of its field, in its place: for titles and other plain texts. */
export function plainSubject(language: Language, subject: string): string {
  return parts(language, subject)
    .map(({ text }) => text)
    .join('');
}

/** The subject, with each merge tag as its default or the name of its field, set apart from what was written. */
export function Subject({ text: subject }: { text: string }) {
  const shown = parts(useLanguage(), subject);
  return <bdi>{shown.map(({ text, isTag }) => (isTag ? <span class="merge-tag">{text}</span> : text))}</bdi>;
}

function parts(language: Language, subject: string): { text: string; isTag: boolean }[] {
  return scan(subject).map((piece) =>
    typeof piece === 'string'
      ? { text: piece, isTag: false }
      : { text: piece.fallback || fieldLabel(language, piece.name), isTag: true },
  );
}
