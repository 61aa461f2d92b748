/** How `npm run migration` writes the next file of drizzle/ from the tables. */
import { defineConfig } from 'drizzle-kit';

export default defineConfig({ dialect: 'sqlite', schema: './src/database/schema/index.ts', out: './drizzle' });
