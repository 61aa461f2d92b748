/** The subject of a mail in a list, with its merge tags replaced. */
import { chosenPieces, scan } from '../../delivery/content/merge.ts';
import { type Language, useLanguage } from '../words/index.ts';
import { fieldLabel } from '../words/known.ts';

/** Returns the subject with each merge tag replaced by its default or the name of its field, for titles and other plain texts. */
export function plainSubject(language: Language, subject: string): string {
  return parts(language, subject)
    .map(({ text }) => text)
    .join('');
}

/** The subject with each merge tag replaced by its default or the name of its field, visually distinct from the rest. */
export function Subject({ text: subject }: { text: string }) {
  const shown = parts(useLanguage(), subject);
  return <bdi>{shown.map(({ text, isTag }) => (isTag ? <span class="merge-tag">{text}</span> : text))}</bdi>;
}

function parts(language: Language, subject: string): { text: string; isTag: boolean }[] {
  // Of a condition, what contacts without the value get.
  return chosenPieces(scan(subject), () => undefined).map((piece) =>
    typeof piece === 'string'
      ? { text: piece, isTag: false }
      : { text: piece.fallback || fieldLabel(language, piece.name), isTag: true },
  );
}
