/** Holds events of webhooks to what the OpenAPI document says of them. */
import type { Test } from 'tap';
import Schema from 'typebox/schema';
import { SENT_EVENTS } from '../../../src/webhooks/operations/event-data.ts';

/** Checks that the data of an event has the fields of its type, none more, and gives the data. */
export function describedData(t: Test, type: string, text: string) {
  const { data: schema } = SENT_EVENTS.find((event) => event.type === type) ?? {};
  const data = JSON.parse(text);
  t.ok(schema !== undefined && Schema.Check(schema, data), `${type}: ${text}`);
  return data;
}
