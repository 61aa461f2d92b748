/** The page that creates an automation, from nothing or from a recipe. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SenderField } from '../../campaigns/screens/compose/audience.tsx';
import { type Choices, readChoices } from '../../campaigns/screens/compose/step.tsx';
import { pageRoute } from '../../http/pages/layout.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import type { Problems } from '../../ui/components/field.tsx';
import { Flow } from '../../ui/components/flow.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { attempt, problemsAt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { createAutomation } from '../operations/automations.ts';
import { createFromRecipe } from '../operations/recipes.ts';
import { RECIPE_BY_NAME, RECIPES, type RecipeName } from '../recipes.ts';
import { Wait } from './automation.tsx';
import { type AutomationFields, AutomationFieldset, isForSegment, submittedFields } from './automation-fields.tsx';
import { editAddress } from './changing.tsx';
import { eventWaitText, STEP_ICONS } from './path.tsx';

interface NewQuery {
  Querystring: { recipe?: string };
}

/** The fields of the form for a new automation, with the sender, for whom only a recipe asks. */
interface NewFields extends AutomationFields {
  sender_id: string;
}

/** Registers the pages that create an automation, from nothing or from a recipe. */
export async function newAutomationScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    recipe: RecipeName | undefined,
    values?: NewFields,
    problems: Problems = {},
  ) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const choices = await readChoices(request);
    const { senders } = choices;
    const sender = senders.find(({ is_verified }) => is_verified === 1) ?? senders[0];
    const defaults = {
      automation_name: recipe === undefined ? '' : language.say(`automations.recipe.${recipe}`),
      automation_for: '',
      unsubscribe_group_id: String(choices.groups[0]?.id ?? 0),
      exit_criteria: '0',
      sender_id: String(sender?.id ?? ''),
    };
    const content = <NewAutomation {...{ recipe, choices, problems }} values={values ?? defaults} />;
    return sendPage(
      request,
      reply,
      viewer,
      { title: language.say('automations.new'), section: 'automations' },
      content,
    );
  };

  pageRoute<NewQuery>(app, '/automations/new', (request, reply) =>
    show(request, reply, recipeNamed(request.query.recipe)),
  );

  app.post('/automations/new', async (request, reply) => {
    const values = { ...submittedFields(request), sender_id: field(request, 'sender_id') };
    const recipe = recipeNamed(field(request, 'recipe'));
    const { automation_name, automation_for, unsubscribe_group_id, sender_id } = values;
    const created =
      recipe === undefined
        ? await attempt(request, createAutomation, { ...values, type: 'custom' })
        : await attempt(request, createFromRecipe, {
            recipe,
            language: languageOf(request, viewerOf(request)).code,
            automation_name,
            automation_for,
            unsubscribe_group_id,
            sender_id,
          });
    if ('output' in created) return reply.redirect(editAddress(created.output.utr), 303);
    const problems = problemsAt(created, 'automation_name');
    if (recipe === undefined || automation_for !== '')
      return show(request, reply.code(created.status), recipe, values, problems);
    const language = languageOf(request, viewerOf(request));
    const choose = language.say(isForSegment(recipe) ? 'automations.chooseSegment' : 'automations.chooseTarget');
    return show(request, reply.code(created.status), recipe, values, { ...problems, automation_for: [choose] });
  });
}

function recipeNamed(name: string | undefined): RecipeName | undefined {
  return RECIPES.find((recipe) => recipe === name);
}

/** The list of recipes. Each recipe links to the form that creates an automation from it. */
export function Recipes() {
  const language = useLanguage();
  return (
    <ul class="recipes">
      {RECIPES.map((recipe) => (
        <li key={recipe} class="card">
          <h3>
            <a href={`/automations/new?recipe=${recipe}`}>{language.say(`automations.recipe.${recipe}`)}</a>
          </h3>
          <p class="quiet-text">{language.say(`automations.recipe.${recipe}.about`)}</p>
        </li>
      ))}
    </ul>
  );
}

interface NewAutomationProps {
  recipe: RecipeName | undefined;
  values: NewFields;
  choices: Choices;
  problems: Problems;
}

function NewAutomation({ recipe, values, choices, problems }: NewAutomationProps) {
  const language = useLanguage();
  return (
    <>
      {recipe === undefined && (
        <section class="stack">
          <h2>{language.say('automations.recipes')}</h2>
          <Recipes />
        </section>
      )}
      <Card title={language.say(recipe === undefined ? 'automations.own' : `automations.recipe.${recipe}`)}>
        <p class="quiet-text">
          {language.say(recipe === undefined ? 'automations.new.about' : `automations.recipe.${recipe}.trigger`)}
        </p>
        {isForSegment(recipe) && <InactiveSegment targets={choices.targets} />}
        <form method="post" action="/automations/new" class="narrow">
          <AutomationFieldset values={values} choices={choices} problems={problems} recipe={recipe} />
          {recipe !== undefined && (
            <>
              <SenderField senders={choices.senders} value={values.sender_id} problems={problems} />
              <input type="hidden" name="recipe" value={recipe} />
              <RecipeSteps recipe={recipe} />
            </>
          )}
          <div class="buttons">
            <Button label={language.say('automations.create')} />
            <LinkButton
              look="quiet"
              href={recipe === undefined ? '/automations' : '/automations/new'}
              label={language.say('confirm.cancel')}
            />
          </div>
        </form>
      </Card>
    </>
  );
}

/** The button that opens a new segment with the rules for inactive contacts, which the recipe needs. */
function InactiveSegment({ targets }: Pick<Choices, 'targets'>) {
  const language = useLanguage();
  const list = targets.find(({ kind }) => kind === 'list');
  const values = {
    segment_name: language.say('automations.inactiveSegment.name'),
    contact_type_id: list?.value.replace('contacts_', '') ?? '',
    query_type: 'and',
    field0: 'activity.mails',
    operator0: 'received at least',
    value0: '3',
    until0: '90',
    field1: 'activity.last',
    operator1: 'is not within',
    value1: '90',
  };
  return (
    <form method="post" action="/contacts/segments/new">
      {Object.entries(values).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <Button look="plain" label={language.say('automations.inactiveSegment')} />
    </form>
  );
}

/** The flow of the steps of a recipe, with their waits. */
function RecipeSteps({ recipe }: { recipe: RecipeName }) {
  const language = useLanguage();
  return (
    <Flow
      label={language.say('automations.recipe.steps')}
      steps={RECIPE_BY_NAME[recipe].steps.map((step, at) => {
        const key = String(at);
        if (step.kind !== 'mail')
          return {
            key,
            icon: STEP_ICONS[step.kind],
            kind: language.say(`automations.step.${step.kind}`),
            title: eventWaitText(language, step),
            content: <p class="quiet-text">{language.say('automations.recipe.exits')}</p>,
          };
        const { subject, preheader } = step.texts[language.code];
        return {
          key,
          icon: STEP_ICONS.mail,
          wait: <Wait mail={step} />,
          kind: language.say('automations.flow.mail'),
          title: <Subject text={subject} />,
          content: <p class="quiet-text">{preheader}</p>,
        };
      })}
    />
  );
}
