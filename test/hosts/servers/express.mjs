import express from 'express';
import { toExpress } from 'parley-a2a/express';
import { agentHandlers } from './agents.mjs';

const { open, guarded } = agentHandlers(() => ({}));
const app = express();
app.use('/agents/open', toExpress(open));
// A body parser of the application runs before the other one, which stands in a router of its own.
const router = express.Router();
router.use(express.json());
router.use('/guarded', toExpress(guarded));
app.use('/agents', router);
app.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
