/** Countries, states, cities. */
import { gives } from './parameters.ts';
import { city, country, state } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

export const places: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/get/country-state-city',
    success: gives({ countries: collection(country), states: collection(state), cities: collection(city) }),
    cacheable: true,
  },
];
