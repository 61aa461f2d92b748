/** What people are sorted by: contact types, fields of one's own, and unsubscribe groups. */
import type { FastifyInstance } from 'fastify';
import { fieldScreens } from './fields.tsx';
import { groupScreens } from './groups.tsx';
import { typeScreens } from './types.tsx';

export async function listScreens(app: FastifyInstance): Promise<void> {
  await app.register(typeScreens);
  await app.register(fieldScreens);
  await app.register(groupScreens);
}
