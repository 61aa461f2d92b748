/** Names the schemas of the OpenAPI document, so that generated clients have a class for each record. */
import { sharedDescription } from './descriptions.ts';
import { exampleForSchema } from './examples.ts';

type Json = Record<string, unknown>;

/** The schema name of each record, by its key in a response, or by path and key if the key is used for different records. */
const RECORDS: Record<string, string> = {
  archive: 'Archive',
  archived: 'ArchivedMail',
  audit: 'AuditEntry',
  automation: 'Automation',
  backups: 'BackupState',
  automations: 'ListedAutomation',
  automation_schedules: 'AutomationSchedule',
  block: 'SavedBlock',
  blocks: 'ListedBlock',
  brand: 'Brand',
  cities: 'City',
  contact: 'Contact',
  contactEmails: 'SegmentRecipient',
  contactType: 'ContactType',
  contactTypes: 'ListedContactType',
  contacts: 'ListedContact',
  countries: 'Country',
  customFields: 'CustomField',
  domains: 'SenderDomain',
  draft: 'SingleSendDraft',
  effects: 'ChangeEffects',
  feeds: 'Feed',
  form: 'Form',
  forms: 'Form',
  health: 'Health',
  hold: 'SendingHold',
  import: 'Import',
  imports: 'Import',
  key: 'NewKey',
  keys: 'Key',
  job: 'ContactJob',
  jobs: 'ContactJob',
  mail: 'OutboxMail',
  mails: 'ListedOutboxMail',
  overview: 'Overview',
  moments: 'Moment',
  picture: 'Picture',
  pictures: 'Picture',
  relays: 'Relay',
  webhooks: 'Webhook',
  reservedFields: 'ReservedField',
  segment: 'Segment',
  segments: 'ListedSegment',
  restore: 'UploadedBackup',
  sender: 'Sender',
  senders: 'Sender',
  passkeys: 'Passkey',
  series: 'AutomationSeries',
  sessions: 'Session',
  singleSend: 'SingleSend',
  singleSends: 'SingleSend',
  states: 'State',
  suppressions: 'Suppression',
  sunset: 'Sunset',
  '/sunset/people people': 'InactivePerson',
  '/sunset/preview contacts': 'InactiveContact',
  template: 'OwnTemplate',
  templates: 'DesignTemplate',
  unSubscribers: 'Unsubscriber',
  user: 'Me',
  users: 'User',
  uses: 'PictureUse',
  verifications: 'SenderVerification',
  version: 'Version',
  versions: 'ListedVersion',
  unsubscribesGroup: 'UnsubscribeGroup',
  unsubscribesGroups: 'ListedUnsubscribeGroup',
  '/contacts/imports/kept contacts': 'KeptContact',
  '/contacts/imports/look upload': 'UploadedFile',
  '/contacts/imports/preview upload': 'UploadedFile',
  '/contacts/imports/previewed people': 'PreviewedPerson',
  '/contacts/imports/previewed preview': 'ImportPreview',
  '/contacts/imports/progress upload': 'UploadedFile',
  '/contacts/imports/start upload': 'UploadedFile',
  '/contacts/person person': 'Person',
  '/contacts/person/export moments': 'ExportedMoment',
  '/contacts/person/export person': 'Person',
  '/contacts/search contacts': 'FoundContact',
  '/contacts-type/uses uses': 'ContactTypeUses',
  '/custom-fields/uses uses': 'FieldUses',
  '/automations/check mails': 'CheckedAutomationMail',
  '/automations/enter contacts': 'EnteredContact',
  '/automations/enter-all entries': 'AutomationEntries',
  '/automations/entries entries': 'AutomationEntries',
  '/automations/preview preview': 'AutomationPreview',
  '/automations/replay replay': 'AutomationReplay',
  '/automations/report report': 'AutomationReport',
  '/automations/schedule/check checked': 'CheckedMail',
  '/automations/schedule/mail mail': 'ShownMail',
  '/automations/schedule/waiting people': 'WaitingPerson',
  '/automations/summaries summaries': 'AutomationSummary',
  '/automations/trigger trigger': 'CountedTrigger',
  '/automations/why why': 'AutomationWhy',
  '/segment/count contacts': 'SegmentMatch',
  '/segment/names automations': 'NamedAutomation',
  '/segment/names mails': 'NamedMail',
  '/segment/uses uses': 'SegmentUses',
  '/unsubscribes-groups/uses uses': 'GroupUses',
  '/sender/report report': 'SenderReport',
  summaries: 'SingleSendSummary',
  '/single-send/check checked': 'CheckedMail',
  '/check check': 'MailCheck',
  '/contacts/upsert contacts': 'UpsertedContact',
  '/single-send/mail mail': 'ShownMail',
  '/single-send/recipients/find recipients': 'FoundRecipient',
  '/single-send/recipients recipients': 'SingleSendRecipient',
  '/single-send/report report': 'SingleSendReport',
  '/single-send/why why': 'SingleSendWhy',
  '/feeds/preview preview': 'FeedPreview',
  '/single/send/preview preview': 'SingleSendPreview',
  '/templates/list templates': 'ListedTemplate',
  '/role-mails mails': 'RoleMail',
  '/transactional/details mail': 'TransactionalMail',
  '/transactional/list mails': 'TransactionalMail',
  '/versions/list mail': 'VersionedMail',
  '/unsubscribes-groups/recipients-list recipients': 'GroupRecipient',
};

/** The ids of records, which have one name in all operations. */
const IDS: Record<string, Json> = {
  Id: {
    type: 'integer',
    format: 'int64',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Id of a record; never reused. 0 where a request may refer to none.',
  },
  IdAsText: {
    type: 'string',
    pattern: '^[0-9]*$',
    description: 'Id of a record, which the contract has as text here.',
  },
  Utr: { type: 'string', format: 'uuid', description: 'UUID of a record.' },
};
const ID_NAME = /^id$|_ids?$|Ids?$/;
const UTR_NAME = /(^|_)utr$/;

/** Collects the named schemas of a document's operations. */
export class NamedSchemas {
  readonly schemas: Record<string, Json> = { ...IDS };

  /** Names the body of an operation. Returns a reference to it. */
  addBody(operationId: string, schema: Json): Json {
    return this.add(`${pascal(operationId)}Body`, schema);
  }

  /**
   * Names an operation's server-sent events, whose `data` is JSON with this schema. Returns a reference. The
   * schema of a stream describes one event, because programs read a stream event by event (as `itemSchema` of OpenAPI 3.2).
   */
  addEvent(operationId: string, schema: Json): Json {
    const data = {
      type: 'string',
      description: 'One line of JSON.',
      contentMediaType: 'application/json',
      contentSchema: this.add(`${pascal(operationId)}EventData`, schema),
    };
    const description = 'A server-sent event without a name and an id.';
    return this.add(`${pascal(operationId)}Event`, {
      type: 'object',
      description,
      required: ['data'],
      properties: { data },
    });
  }

  /** Names the response of an operation at `path` (below /api) and the records in it. Returns a reference and an example. */
  addAnswer(operationId: string, path: string, schema: Json): { schema: Json; example: unknown } {
    const example = exampleForSchema('', schema);
    const properties: Record<string, Json> = Object(schema.properties);
    const message = properties.message;
    if (message?.type === 'string') return { schema: this.add('Done', schema), example };
    // Three deletes of the contract report success under `errors`, without `message`.
    if (message === undefined) return { schema: this.add('DoneInErrors', schema), example };
    const records = Object.entries(Object(message.properties) as Record<string, Json>).map(([key, value]) => {
      const name = RECORDS[`${path} ${key}`] ?? RECORDS[key];
      // A list such as `automationSchedules` that has no description gets “The automation schedules.”
      if (value.type === 'array' && sharedDescription(key) === undefined)
        value.description ??= `The ${key.replace(/[A-Z]|_./g, (start) => ` ${start.replace('_', '').toLowerCase()}`)}.`;
      if (name === undefined) return [key, value];
      if (value.type === 'array') return [key, { ...value, items: this.add(name, Object(value.items)) }];
      if (Array.isArray(value.anyOf)) return [key, { ...value, anyOf: this.addParts(name, value.anyOf) }];
      return [key, this.add(name, value)];
    });
    const named = { ...properties, message: { ...message, properties: Object.fromEntries(records) } };
    return { schema: this.add(`${pascal(operationId)}Answer`, { ...schema, properties: named }), example };
  }

  /** Names the objects of a union: each by its title, or by `name` if it has no title. Returns the parts with references to them. */
  addParts(name: string, union: readonly Json[]): Json[] {
    return union.map(({ title, ...part }) =>
      part.type === 'object' ? this.add(typeof title === 'string' ? title : name, part) : part,
    );
  }

  /** Names a schema, and describes its fields. Returns a reference to it. Throws if another schema has this name. */
  add(name: string, schema: Json): Json {
    const described = Object(withDescriptions(schema));
    const known = this.schemas[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(described)) {
      throw new Error(`${name} names two schemas; tell them apart in src/http/openapi/named-schemas.ts`);
    }
    this.schemas[name] = described;
    return { $ref: `#/components/schemas/${name}` };
  }
}

/** Adds a description to every field that lacks one, at any depth. */
function withDescriptions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withDescriptions);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === 'example' || keyword === 'examples' || keyword === 'enum') return [keyword, value];
    if (keyword !== 'properties') return [keyword, withDescriptions(value)];
    const fields = Object.entries(Object(value) as Record<string, Json>).map(([field, property]) => {
      const description = property.description ?? sharedDescription(field);
      // A `$ref` gets no description here, because the named schema has its own.
      if ('$ref' in property || description === undefined) return [field, withDescriptions(property)];
      return [field, { ...withNamedId(field, Object(withDescriptions(property))), description }];
    });
    return [keyword, Object.fromEntries(fields)];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the schema of a field or parameter. If its name or format says that it is an id (or a list of ids), its schema is
 * replaced by a reference to the named schema of ids.
 */
export function withNamedId(name: string, schema: Json): Json {
  const { type, format, items, anyOf, minimum, maximum, ...rest } = schema;
  if (type === 'array') return { ...schema, items: withNamedId(name, Object(items)) };
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.map((part) => withNamedId(name, Object(part))) };
  if (format === 'id-as-text') return { $ref: '#/components/schemas/IdAsText', ...rest };
  if (type === 'integer' && ID_NAME.test(name)) return { $ref: '#/components/schemas/Id', ...rest };
  if (type === 'string' && UTR_NAME.test(name)) return { $ref: '#/components/schemas/Utr', ...rest };
  return schema;
}

function pascal(operationId: string): string {
  return operationId.charAt(0).toUpperCase() + operationId.slice(1);
}
