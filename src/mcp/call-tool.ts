/** Carries out a tool: reads records, or makes or changes a draft. */
import { SINGLE_SEND_STATUS } from '../database/schema/states.ts';
import { change, type Fields, readRecords, type Service, ToolError } from './api.ts';
import type { Tool } from './tools.ts';

/** Gives what the API answers. Throws a ToolError. */
export async function callTool(service: Service, tool: Tool, given: Fields): Promise<Fields> {
  const known = Object.keys(tool.input.properties);
  const fields = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => known.includes(name) && value !== undefined && value !== null),
  );
  if (!tool.isForDrafts) return readRecords(service, tool.path, fields);
  if (!known.includes('utr')) return change(service, tool.path, fields);
  const { draft } = await readRecords(service, '/single-send/draft', { utr: fields.utr ?? '' });
  const { status, held_reason, updated_at }: Fields = Object(draft);
  // One that is held may leave by itself once its cause is gone.
  if (status !== SINGLE_SEND_STATUS.draft || held_reason !== null)
    throw new ToolError('It is not a draft: change it in the dashboard');
  // Refused where somebody changed or sent it since it was read.
  return change(service, tool.path, { ...fields, unchanged_since: updated_at });
}
