import { InvalidAgentResponseError } from '../../errors/spec-errors.js';
import { isObject } from '../../model/json.js';

/** An object of the wire whose members are not known yet. */
export type Members = Record<string, unknown>;

/** The value as an object. `path` names it in the error. */
export function members(value: unknown, path: string): Members {
  if (isObject(value)) return value;
  throw wrong(path, value, 'an object');
}

/** Checks a task as far as its reader relies on it: an id and a state; lists are lists. */
export function checkTask(value: unknown, path: string): void {
  const task = members(value, path);
  checkText(task, 'id', path);
  checkStatus(task.status, `${path}.status`);
  checkList(task, 'artifacts', path, checkArtifact);
  checkList(task, 'history', path, checkMessage);
}

/** A status has a state, of whatever name. */
export function checkStatus(value: unknown, path: string): void {
  const status = members(value, path);
  checkText(status, 'state', path);
  if (status.message !== undefined && status.message !== null) checkMessage(status.message, `${path}.message`);
}

/** A message has an id and parts. */
export function checkMessage(value: unknown, path: string): void {
  const message = members(value, path);
  checkText(message, 'messageId', path);
  checkParts(message, path);
}

/** An artifact has an id and parts. */
export function checkArtifact(value: unknown, path: string): void {
  const artifact = members(value, path);
  checkText(artifact, 'artifactId', path);
  checkParts(artifact, path);
}

/** Checks each item of a list that may be absent. */
export function checkList(
  owner: Members,
  name: string,
  path: string,
  check: (item: unknown, path: string) => void,
): void {
  const value = owner[name];
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) throw wrong(`${path}.${name}`, value, 'a list');
  for (let at = 0; at < value.length; at++) check(value[at], `${path}.${name}[${at}]`);
}

/** A member that is a text and not empty. Its path is put together only where it is told: this is done for every event. */
export function checkText(owner: Members, name: string, path: string): void {
  const value = owner[name];
  if (typeof value !== 'string' || value === '') throw wrong(`${path}.${name}`, value, 'a text');
}

/** More than 2 kB, content or a file, or a character that readers of urls drop. */
const NO_ADDRESS = /^.{2049}|^(data|file|blob):|[\0- ]/is;

/** The url of an interface, which may be a bare host for some bindings. */
export function checkAddress({ url }: Members, path: string): void {
  if (NO_ADDRESS.test(String(url))) throw wrong(path, url, 'an address');
}

/** Writers that leave out defaults leave out a list without items. */
function checkParts(owner: Members, path: string): void {
  const { parts } = owner;
  if (Array.isArray(parts) && parts.every(isObject)) return;
  if (parts === undefined || parts === null) owner.parts = [];
  else checkList(owner, 'parts', path, members);
}

/** The error of a value that is not what it has to be. */
export function wrong(path: string, value: unknown, wanted: string): InvalidAgentResponseError {
  const found = value === undefined ? 'is missing' : `is not ${wanted}`;
  return new InvalidAgentResponseError(`${path} ${found}`);
}
