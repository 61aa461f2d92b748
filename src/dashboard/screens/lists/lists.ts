/** What people are sorted by: contact types and fields of one's own. */
import type { FastifyInstance } from 'fastify';
import { fieldScreens } from './fields.tsx';
import { typeScreens } from './types.tsx';

export async function listScreens(app: FastifyInstance): Promise<void> {
  await typeScreens(app);
  await fieldScreens(app);
}
