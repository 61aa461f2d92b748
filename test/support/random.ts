/** Random numbers that can be repeated, for tests. */
export { randomOf } from '../../fixtures/random.ts';
