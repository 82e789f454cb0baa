// The peer: the official SDK on Express.
import { WORKLOADS } from '../workloads.js';
import { EXECUTORS } from './peer-agents.js';
import { servePeer } from './peer-server.js';
import { workloadArgument } from './subject-host.js';

const { kind, tasks } = WORKLOADS[workloadArgument()];
await servePeer(EXECUTORS[kind], tasks);
