/**
 * The tools that a language model may use through `sendlark mcp`. Each tool is one request to the API. Some tools only read. The others
 * create and change drafts of single sends and automations, which only a user of the dashboard can send or set live. No tool sends,
 * schedules or deletes.
 */
import Type, { type TObject } from 'typebox';
import { addMail, addStep, changeAutomation, changeMail, changeStep } from '../automations/operations/changes.ts';
import { RECIPES } from '../automations/recipes.ts';
import type { Scope } from '../database/schema/index.ts';

export interface Tool {
  name: string;
  title: string;
  description: string;
  /** True if the tool creates or changes a draft, false if it only reads. */
  isForDrafts: boolean;
  /** True if the tool reads with a POST request, because its parameters may hold a whole mail. */
  isPost?: boolean;
  /** The path below /api. */
  path: string;
  /** The scopes with which a key pair may use this path; one of them, or `everything`, suffices. */
  scopes: readonly Scope[];
  /** The parameters of the tool, which have the same names in the request. The API checks their values. */
  input: TObject;
  /** True if the tool changes an automation: the API then refuses to change anything but a draft. */
  isOfAutomation?: true;
}

const MAX_ROWS = 50;

const utr = Type.String({ description: 'The single send, by its utr.' });
const automationUtr = Type.String({ description: 'The automation, by its utr.' });
const stepUtr = Type.String({ description: 'The e-mail or step, by its utr.' });
const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MAX_ROWS, description: 'The maximum number of records.' }),
);
const contactEmail = Type.String({ description: 'The e-mail address of the contact.' });
const nothing = Type.Object({});

const read = (tool: Omit<Tool, 'isForDrafts'>): Tool => ({ ...tool, isForDrafts: false });
const draft = (tool: Omit<Tool, 'isForDrafts'>): Tool => ({ ...tool, isForDrafts: true });

/**
 * Declares a tool that changes a draft of an automation by an operation of the API, and has the operation's parameters. `changedUtr` describes
 * the record that the tool changes.
 */
function automationDraft(
  tool: Pick<Tool, 'name' | 'title' | 'description' | 'path'>,
  { input: { properties } }: { input: TObject },
  changedUtr = automationUtr,
): Tool {
  // The server of the tools sets these parameters, or leaves them out.
  const { unchanged_since: _since, only_draft: _draft, dry_run: _run, ...own } = properties;
  const input = Type.Object({ ...own, utr: changedUtr });
  return draft({ ...tool, scopes: ['campaigns'], input, isOfAutomation: true });
}

/** The tools in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  read({
    name: 'read_overview',
    title: 'Overview',
    description: 'What is set up and under way in the account, the last mailings, and how the audience changes.',
    path: '/overview',
    scopes: ['read'],
    input: nothing,
  }),
  read({
    name: 'read_health',
    title: 'Health',
    description: 'Whether the installation is well, and what to do where it is not.',
    path: '/health',
    scopes: ['read'],
    input: nothing,
  }),
  read({
    name: 'list_contact_types',
    title: 'Contact types',
    description: 'The lists that contacts belong to. contacts_<id> is a target of e-mails.',
    path: '/contacts-type',
    scopes: ['read', 'contacts'],
    input: nothing,
  }),
  read({
    name: 'list_segments',
    title: 'Segments',
    description: 'Contacts of a type whose fields match rules. segments_<id> is a target of e-mails.',
    path: '/segment/list',
    scopes: ['read', 'contacts'],
    input: nothing,
  }),
  read({
    name: 'list_senders',
    title: 'Senders',
    description: 'The senders from whom e-mails come, and whether their addresses are verified.',
    path: '/senders',
    scopes: ['read'],
    input: nothing,
  }),
  read({
    name: 'list_unsubscribe_groups',
    title: 'Unsubscribe groups',
    description: 'Kinds of mail from which a recipient can unsubscribe separately.',
    path: '/unsubscribes-groups',
    scopes: ['read', 'contacts'],
    input: nothing,
  }),
  read({
    name: 'search_contacts',
    title: 'Search contacts',
    description: 'Finds contacts by parts of names and addresses, by type, by segment, and by whether they get mail.',
    path: '/contacts/search',
    scopes: ['read', 'contacts'],
    input: Type.Object({
      search: Type.Optional(Type.String({ description: 'Parts of names and e-mail addresses.' })),
      contact_type_id: Type.Optional(Type.Integer({ description: 'Only contacts of this type.' })),
      segment_id: Type.Optional(Type.Integer({ description: 'Only contacts in this segment.' })),
      limit,
      after: Type.Optional(Type.String({ description: '`next` of the page before.' })),
    }),
  }),
  read({
    name: 'read_person',
    title: 'A person',
    description:
      'Everything stored about the person of a contact: fields, lists, segments, unsubscribe groups that they unsubscribed from.',
    path: '/contacts/person',
    scopes: ['read', 'contacts'],
    input: Type.Object({ contact_id: Type.Integer({ description: 'The contact.' }) }),
  }),
  read({
    name: 'list_single_sends',
    title: 'Single sends',
    description: 'The single sends, newest first, with their state and results.',
    path: '/single-send/summaries',
    scopes: ['read', 'campaigns'],
    input: Type.Object({
      search: Type.Optional(Type.String({ description: 'Part of a name or subject.' })),
      limit,
      before_id: Type.Optional(Type.Integer({ description: '`next_before_id` of the page before.' })),
    }),
  }),
  read({
    name: 'read_single_send',
    title: 'A single send',
    description: 'How a single send is composed, without its template.',
    path: '/single-send/draft',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr }),
  }),
  read({
    name: 'count_audience',
    title: 'Audience of a single send',
    description: 'How many contacts would get a single send now, and how many would not and why.',
    path: '/single-send/audience',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr }),
  }),
  read({
    name: 'check_single_send',
    title: 'Check of a single send',
    description:
      'What is wrong with a single send before it is sent: links, sample text, merge tags, and for all recipients empty values, unused branches of conditions and clipped e-mails.',
    isPost: true,
    path: '/check',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr }),
  }),
  read({
    name: 'read_report',
    title: 'Report of a single send',
    description:
      'Deliveries, opens and clicks of people and machines, returned e-mails, unsubscribes, links and hours.',
    path: '/single-send/report',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr }),
  }),
  read({
    name: 'list_automations',
    title: 'Automations',
    description: 'Series of e-mails for everybody who joins a target, with their status.',
    path: '/automations',
    scopes: ['read', 'campaigns'],
    input: nothing,
  }),
  read({
    name: 'explain_single_send',
    title: 'Why a contact gets a single send',
    description:
      'What became of the e-mail for one contact, and each rule with its value now and what would change it.',
    path: '/single-send/why',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr, email: contactEmail }),
  }),
  read({
    name: 'explain_automation',
    title: 'Why a contact gets an automation',
    description:
      'Each step of one contact in an automation, past and to come, and each rule with its value now and what would change it.',
    path: '/automations/why',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr: automationUtr, email: contactEmail }),
  }),
  read({
    name: 'read_automation',
    title: 'An automation',
    description:
      'The trigger of an automation, its e-mails and all its steps with their paths, and how many contacts wait.',
    path: '/automations/series',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr: automationUtr }),
  }),
  read({
    name: 'check_automation',
    title: 'Check of an automation',
    description:
      'What is wrong with the e-mails of an automation, live or a draft: the same checks as of a single send, also for all contacts whom each e-mail would reach now.',
    path: '/automations/check',
    scopes: ['read', 'campaigns'],
    input: Type.Object({
      utr: automationUtr,
      mail: Type.Optional(Type.String({ description: 'Only this e-mail, by its utr.' })),
    }),
  }),
  read({
    name: 'count_automation_trigger',
    title: 'Contacts who met a trigger',
    description:
      'How many contacts in the target of an automation, live or a draft, met its trigger in the last 30 days.',
    path: '/automations/trigger',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr: automationUtr }),
  }),
  read({
    name: 'count_automation_entries',
    title: 'Contacts who could be let in',
    description:
      'What would become of all contacts who are in the target of an automation now, or in a segment, if they were let in: how many would enter, and how many would not and why.',
    path: '/automations/entries',
    scopes: ['read', 'campaigns'],
    input: Type.Object({
      utr: automationUtr,
      segment_id: Type.Optional(Type.Integer({ description: 'Only contacts of this segment.' })),
    }),
  }),
  read({
    name: 'read_automation_log',
    title: 'What happened in an automation',
    description: 'A line for each entry, step and end of a contact, newest first, of all contacts or of one.',
    path: '/automations/log',
    scopes: ['read', 'campaigns'],
    input: Type.Object({
      utr: automationUtr,
      email: Type.Optional(contactEmail),
      limit,
      before_id: Type.Optional(Type.Integer({ description: '`next_before_id` of the page before.' })),
    }),
  }),
  read({
    name: 'read_automation_results',
    title: 'Results of an automation',
    description:
      'How many more contacts reached the goal than in the control group, and the value they brought, with confidence intervals.',
    path: '/automations/results',
    scopes: ['read', 'campaigns'],
    input: Type.Object({ utr: automationUtr }),
  }),
  read({
    name: 'replay_automation',
    title: 'An automation over the last days',
    description:
      'Who would have entered an automation, live or a draft, in the last days, which e-mails would have been sent, who would have exited and why. Nothing is sent.',
    path: '/automations/replay',
    scopes: ['read', 'campaigns'],
    input: Type.Object({
      utr: automationUtr,
      days: Type.Optional(Type.Integer({ description: 'How many days ago the replay begins, at most 90.' })),
      opens: Type.Optional(Type.Integer({ description: 'How many of a hundred e-mails are assumed to be opened.' })),
      clicks: Type.Optional(Type.Integer({ description: 'How many of a hundred e-mails are assumed to be clicked.' })),
      email: Type.Optional(contactEmail),
    }),
  }),
  draft({
    name: 'create_draft',
    title: 'Begin a draft',
    description:
      'Begins a single send as a draft that has only a name. Nobody gets the e-mail before a person sends it in the dashboard.',
    path: '/single/send/draft',
    scopes: ['campaigns'],
    input: Type.Object({
      single_send_name: Type.String({ description: 'The name of the single send, which recipients do not see.' }),
    }),
  }),
  draft({
    name: 'change_draft',
    title: 'Change a draft',
    description:
      'Changes parts of a draft; parameters that are absent change nothing. Refused for a single send that is not a draft.',
    path: '/single/send/save',
    scopes: ['campaigns'],
    input: Type.Object({
      utr,
      single_send_name: Type.Optional(Type.String()),
      subject: Type.Optional(Type.String({ description: 'May have placeholders, such as ((first_name|you)).' })),
      preheader: Type.Optional(Type.String({ description: 'The line that is shown beside the subject.' })),
      sender_id: Type.Optional(Type.Integer()),
      unsubscribe_group_id: Type.Optional(Type.Integer()),
      recipient_id: Type.Optional(
        Type.Array(Type.String(), { description: 'Targets: contacts_<contact type id> or segments_<segment id>.' }),
      ),
      exclude_specific_recipient_id: Type.Optional(Type.Array(Type.String(), { description: 'Targets to exclude.' })),
      template_id: Type.Optional(Type.Integer({ description: 'A template whose copy becomes the e-mail.' })),
      template_html: Type.Optional(Type.String({ description: 'The e-mail as HTML, in place of a template.' })),
    }),
  }),
  draft({
    name: 'create_automation_draft',
    title: 'Begin an automation',
    description:
      'Makes an automation from a recipe, with its trigger, waits and e-mails, as a draft. Nobody enters the automation before a person starts it in the dashboard.',
    path: '/automations/create-from-recipe',
    scopes: ['campaigns'],
    input: Type.Object({
      recipe: Type.String({ description: `One of ${RECIPES.join(', ')}.` }),
      language: Type.String({ description: 'The language of the e-mails: en or de.' }),
      automation_name: Type.String({ description: 'The name of the automation, which recipients do not see.' }),
      automation_for: Type.String({
        description: 'The target of the automation: contacts_<contact type id> or segments_<segment id>.',
      }),
      unsubscribe_group_id: Type.Integer(),
      sender_id: Type.Integer(),
    }),
  }),
  automationDraft(
    {
      name: 'change_automation_draft',
      title: 'Change an automation',
      description:
        'Changes the name, target, trigger, goal, exit rule, control group and re-entry of an automation; parameters that are absent change nothing. Refused while the automation is live.',
      path: '/automations/update',
    },
    changeAutomation,
  ),
  automationDraft(
    {
      name: 'add_mail_to_automation_draft',
      title: 'Add an e-mail to an automation',
      description: 'Adds an e-mail at the end of a path, or before another step. Refused while the automation is live.',
      path: '/automations/schedule/add',
    },
    addMail,
  ),
  automationDraft(
    {
      name: 'change_mail_of_automation_draft',
      title: 'Change an e-mail of an automation',
      description:
        'Changes parts of an e-mail; parameters that are absent change nothing. Refused while the automation is live.',
      path: '/automations/schedule/update',
    },
    changeMail,
    stepUtr,
  ),
  automationDraft(
    {
      name: 'add_step_to_automation_draft',
      title: 'Add a step to an automation',
      description:
        'Adds a condition, a split, a wait, a change of the contact, a webhook or an exit at the end of a path, or before another step. Refused while the automation is live.',
      path: '/automations/step/add',
    },
    addStep,
  ),
  automationDraft(
    {
      name: 'change_step_of_automation_draft',
      title: 'Change a step of an automation',
      description:
        'Changes the settings of a step, or the wait before it; parameters that are absent change nothing. Refused while the automation is live.',
      path: '/automations/step/update',
    },
    changeStep,
    stepUtr,
  ),
];
