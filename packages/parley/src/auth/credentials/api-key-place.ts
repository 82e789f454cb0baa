import { nonEmpty, type OptionSchemas, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';

/** The place of an API key in a request. */
export interface ApiKeyPlace {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
}

const schemas: OptionSchemas<ApiKeyPlace> = {
  location: Type.String({ enum: ['header', 'query', 'cookie'] }),
  name: nonEmpty,
};

/** The schema of ApiKeyPlace. */
export const apiKeyPlaceSchema = optionObject(schemas);
