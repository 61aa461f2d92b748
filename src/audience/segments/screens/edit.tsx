/** Creating and changing a segment: its rules as rows of choices, and the matching contacts before anything is saved. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Island, LiveNotes } from '../../../ui/components/island.tsx';
import { Empty } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt, problemsAt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { addSegment, changeSegment, countMatches, readSegment } from '../operations.ts';
import { type RuleChoices, readRuleChoices } from './choices.ts';
import { type CountedMatches, MatchesCard, readMatches } from './matches.tsx';
import { Rules } from './rule-rows.tsx';
import { afterClick, type Draft, draftOf, emptyDraft, readDraft, submittedRules } from './rules.ts';

interface Call {
  Params: { id?: string };
}

/** Registers the pages that add and change segments. */
export async function editScreens(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));

  for (const url of ['/contacts/segments/new', '/contacts/segments/:id/edit'] as const) {
    pageRoute<Call>(app, url, async (request, reply) => {
      const choices = await readRuleChoices(request);
      const { id: segment_id } = request.params;
      const draft =
        segment_id === undefined
          ? emptyDraft(String(choices.types[0]?.id ?? ''))
          : draftOf(await ask(request, readSegment, { segment_id }));
      return show(request, reply, choices, draft);
    });

    app.post<Call>(url, async (request, reply) => {
      const { id: segment_id } = request.params;
      // Throws 404 before anything else if there is no such segment.
      if (segment_id !== undefined) await ask(request, readSegment, { segment_id });
      const choices = await readRuleChoices(request);
      const draft = readDraft(request.body, choices.fields);
      const action = field(request, 'do');
      if (action !== 'save') return show(request, reply, choices, afterClick(draft, action));
      const input = { segment_name: draft.name, ...submittedRules(draft) };
      const saved =
        segment_id === undefined
          ? await attempt(request, addSegment, input)
          : await attempt(request, changeSegment, { segment_id, ...input });
      if ('output' in saved) {
        setFlash(reply, 'good', 'segments.saved', { name: draft.name });
        return reply.redirect(`/contacts/segments/${saved.output.id}`, 303);
      }
      return show(request, reply.code(saved.status), choices, draft, {
        ...problemsAt(saved, 'segment_name'),
        ...(await ruleProblems(request, draft)),
      });
    });
  }

  async function show(
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    choices: RuleChoices,
    draft: Draft,
    problems: Problems = {},
  ) {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const matches = await readMatches(request, submittedRules(draft));
    const title = language.say(request.params.id === undefined ? 'segments.new' : 'segments.change');
    const content = <Edit {...{ draft, choices, matches, problems }} id={request.params.id} />;
    return sendPage(request, reply, viewer, { title, section: 'contacts' }, content);
  }

  /**
   * Returns the problems of each rule, by the name of its field in the form. A refusal names only the parameter with the fault, so each
   * rule is checked alone. The request has no contact type, so that nothing is counted.
   */
  async function ruleProblems(request: FastifyRequest, draft: Draft): Promise<Problems> {
    const problems: Record<string, readonly string[]> = {};
    for (const [at, rule] of draft.rules.entries()) {
      const alone = submittedRules({ ...draft, typeId: '', rules: [rule] });
      const tried = await attempt(request, countMatches, alone);
      if ('output' in tried) throw new Error('rules without a contact type were counted');
      const { select_field, select_operator, value } = tried.problems;
      const parts = { field: select_field, operator: select_operator, value };
      for (const [part, texts] of Object.entries(parts)) if (texts !== undefined) problems[`${part}${at}`] = texts;
    }
    return problems;
  }
}

function Edit({
  id,
  draft,
  choices,
  matches,
  problems,
}: {
  id: string | undefined;
  draft: Draft;
  choices: RuleChoices;
  matches: CountedMatches;
  problems: Problems;
}) {
  const language = useLanguage();
  if (choices.types.length === 0)
    return (
      <Empty
        title={language.say('segments.noTypes.title')}
        action={<LinkButton href="/contacts/import" label={language.say('contacts.import')} />}
      >
        {language.say('segments.noTypes.text')}
      </Empty>
    );
  return (
    <Island name="rules">
      <form method="post" action={id === undefined ? '/contacts/segments/new' : `/contacts/segments/${id}/edit`}>
        {/* The Enter key in a field presses this button, because browsers use the first button of a form. */}
        <button type="submit" name="do" value="save" hidden>
          {language.say('segments.save')}
        </button>
        <div class="segment-head">
          <TextField
            name="segment_name"
            label={language.say('segments.name')}
            value={draft.name}
            maxLength={MAX_LINE_CHARACTERS}
            autocomplete="off"
            problems={problems}
          />
          <SelectField
            name="contact_type_id"
            label={language.say('segments.from')}
            value={draft.typeId}
            options={choices.types.map((type) => ({ value: String(type.id), label: type.name }))}
            problems={problems}
          />
          <SelectField
            name="query_type"
            label={language.say('segments.join')}
            value={draft.join}
            options={(['and', 'or'] as const).map((join) => ({
              value: join,
              label: language.say(`segments.join.${join}`),
            }))}
            problems={problems}
          />
        </div>
        <Rules rules={draft.rules} choices={choices} problems={problems} />
        <LiveNotes />
        <MatchesCard draft={draft} choices={choices} matches={matches} />
        <div class="buttons">
          <Button name="do" value="save" label={language.say('segments.save')} />
          <LinkButton
            look="quiet"
            href={id === undefined ? '/contacts/segments' : `/contacts/segments/${id}`}
            label={language.say('confirm.cancel')}
          />
        </div>
      </form>
    </Island>
  );
}
