/** Holds events of webhooks to what the OpenAPI document says of them. */
import type { Test } from 'tap';
import Schema from 'typebox/schema';
import { SENT_EVENTS } from '../../../src/webhooks/operations/event-types.ts';

interface Properties {
  properties?: object;
}

/** Checks that the data of an event has the fields of its type, none more, and gives the data. */
export function describedData(t: Test, type: string, text: string) {
  const schema: { anyOf?: Properties[] } & Properties = { ...SENT_EVENTS.find((event) => event.type === type)?.data };
  const data = JSON.parse(text);
  t.ok(Schema.Check(schema, data), `${type}: ${text}`);
  const known = [schema, ...(schema?.anyOf ?? [])].map((part) => Object.keys(part?.properties ?? {}));
  t.ok(
    known.some((names) => Object.keys(data).every((name) => names.includes(name))),
    `${type}: ${text}`,
  );
  return data;
}
