import { express } from './hosts/express.js';
import { fastify } from './hosts/fastify.js';
import { hono } from './hosts/hono.js';
import { next } from './hosts/next.js';
import { own } from './hosts/own.js';
import type { HostPart } from './part.js';
import type { Choice } from './questions.js';

/** Every host of the agent. */
export const HOSTS: Readonly<Record<Choice<'host'>, HostPart>> = { own, express, fastify, hono, next };
