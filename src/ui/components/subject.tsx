/** The subject of a mail on a page, with its merge tags replaced. */
import { chosenPieces, scan } from '../../delivery/content/placeholders.ts';
import { type Language, useLanguage } from '../words/index.ts';
import { fieldLabel } from '../words/known.ts';

/** Returns the subject as a plain text, such as for titles. Each merge tag is replaced by its default or the name of its field. */
export function plainSubject(language: Language, subject: string): string {
  return subjectParts(language, subject)
    .map(({ text }) => text)
    .join('');
}

/** The subject with each merge tag replaced by its default or the name of its field. The replaced texts look different. */
export function Subject({ text: subject }: { text: string }) {
  const parts = subjectParts(useLanguage(), subject);
  return <bdi>{parts.map(({ text, isTag }) => (isTag ? <span class="merge-tag">{text}</span> : text))}</bdi>;
}

function subjectParts(language: Language, subject: string): { text: string; isTag: boolean }[] {
  // A condition shows the text that contacts without the value get.
  return chosenPieces(scan(subject), () => undefined).map((piece) =>
    typeof piece === 'string'
      ? { text: piece, isTag: false }
      : { text: piece.fallback || fieldLabel(language, piece.name), isTag: true },
  );
}
