/** The contacts that the rules of a form match: the rules in a sentence, the number of contacts, and ten of them. */
import type { FastifyRequest } from 'fastify';
import { Button } from '../../../ui/components/button.tsx';
import { PeopleSample } from '../../../ui/components/people-sample.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { attempt } from '../../../ui/operations.ts';
import { texts } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { countMatches, type Matches } from '../operations.ts';
import type { RuleChoices } from './choices.ts';
import { rulesInWords } from './rule-words.ts';
import type { Draft, SubmittedRules } from './rules.ts';

/** The matching contacts; null while the rules are incomplete. `rules` are those that were counted. */
export type CountedMatches = { matches: Matches; rules: string } | null;

/** Counts the contacts that match the rules. Continues the previous form's count if requested and if the rules are the same. */
export async function readMatches(request: FastifyRequest, fields: SubmittedRules): Promise<CountedMatches> {
  const submitted: Record<string, unknown> = Object.assign(Object.create(null), request.body);
  const [after = ''] = texts(submitted.after);
  const rules = new URLSearchParams(
    Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value) => [name, value])),
  ).toString();
  const isContinued = after !== '' && texts(submitted.counted_rules)[0] === rules;
  const counted = await attempt(request, countMatches, { ...fields, ...(isContinued && { after }) });
  if ('problems' in counted) return null;
  const before = isContinued ? Number(texts(submitted.counted)[0]) || 0 : 0;
  return { matches: { ...counted.output, count: counted.output.count + before }, rules };
}

/** The rules in words, with the number of contacts that match and the first ones. */
export function MatchesCard({
  draft,
  choices,
  matches,
}: {
  draft: Draft;
  choices: RuleChoices;
  matches: CountedMatches;
}) {
  const language = useLanguage();
  return (
    <Card title={language.say('segments.who')}>
      <p id="segment-words">
        <bdi>{rulesInWords(language, draft, choices)}</bdi>
      </p>
      <Count matches={matches} />
      <Sample matches={matches} />
      <Button look="plain" name="do" value="show" label={language.say('segments.show')} />
    </Card>
  );
}

/** The number of matching contacts. Screen readers announce `data-news`. The script presses the button `after` until the button is gone. */
function Count({ matches }: { matches: CountedMatches }) {
  const language = useLanguage();
  if (matches === null)
    return (
      <div id="segment-count" data-news={language.say('segments.incomplete')}>
        <p class="quiet-text">{language.say('segments.incomplete')}</p>
      </div>
    );
  const { count, next } = matches.matches;
  const text = language.say(next === null ? 'segments.count' : 'segments.soFar', { count });
  return (
    <div id="segment-count" data-news={text}>
      <p>
        <b>{text}</b>
      </p>
      <input type="hidden" name="counted" value={count} />
      <input type="hidden" name="counted_rules" value={matches.rules} />
      {next !== null && <Button look="plain" name="after" value={next} label={language.say('segments.countOn')} />}
    </div>
  );
}

function Sample({ matches }: { matches: CountedMatches }) {
  const language = useLanguage();
  const contacts = matches?.matches.contacts ?? [];
  return (
    <div id="segment-sample">
      {contacts.length > 0 && (
        <>
          <p class="quiet-text small">{language.say('segments.sample', { count: contacts.length })}</p>
          <PeopleSample contacts={contacts} />
        </>
      )}
    </div>
  );
}
