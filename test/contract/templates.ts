/** Design templates. */
import { gives } from './parameters.ts';
import { designTemplate } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

export const templates: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/get-design/template',
    success: gives({ templates: collection(designTemplate) }),
  },
];
