/** The requests that the service itself sends, as the `webhooks` of the OpenAPI document. */
import { exampleForSchema } from './examples.ts';
import type { NamedSchemas } from './named-schemas.ts';

type Json = Record<string, unknown>;

/** An event: its type, such as `contact.created`, a summary of what happened, and the schema of its `data`. */
export interface SentEvent {
  type: string;
  summary: string;
  data: Json;
}

const HEADERS = Object.entries({
  'webhook-id': ['Id of the event; the same at each attempt.', 'evt_5f0c3b7a9d2e4186_1042'],
  'webhook-timestamp': ['When the attempt was made, in seconds since 1970.', '1795356830'],
  'webhook-signature': ['Signatures after Standard Webhooks, one for each valid secret.', 'v1,kZ5b…'],
}).map(([name, [description, example]]) => ({
  in: 'header',
  name,
  required: true,
  description,
  schema: { type: 'string' },
  example,
}));

const RESPONSES = {
  '2XX': { description: 'The event was received.' },
  410: { description: 'The webhook is switched off.' },
  default: { description: 'The event is sent again later, for three days.' },
};

/** Returns the object `webhooks` with an entry for each event, whose schemas it names. */
export function webhooksOf(events: readonly SentEvent[], named: NamedSchemas): Json {
  return Object.fromEntries(events.map((event) => [event.type, { post: operationOf(event, named) }]));
}

function operationOf({ type, summary, data }: SentEvent, named: NamedSchemas): Json {
  const name = type.replace(/(?:^|[._])(\w)/g, (_all, letter: string) => letter.toUpperCase());
  const envelope = (content: Json) => ({
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string', const: type, description: 'The type of the event.' },
      timestamp: { type: 'string', format: 'date-time', description: 'When it happened, UTC.' },
      data: content,
    },
  });
  const example = exampleForSchema('', envelope(data));
  const parts = named.addParts(`${name}Data`, Array.isArray(data.anyOf) ? data.anyOf : [data]);
  const schema = named.add(
    `${name}Event`,
    envelope(parts.length === 1 ? Object(parts[0]) : { anyOf: parts, description: 'What happened.' }),
  );
  return {
    operationId: `webhook${name}`,
    tags: ['Webhooks'],
    summary,
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: RESPONSES,
  };
}
