"""What the calls of one program mean: builds its graph, and says which findings it should have.

The rules are those of docs/design/order.md; the names H1 to H18 are of SPEC 20 §1.1. A call whose meaning is not known
here is an error, never ignored.
"""

import dataclasses
import itertools

from graph import BY_THE_WAY, STRONG, Graph, box, linear

# Calls that neither order nor access anything.
SILENT = frozenset((
    "aclInit", "aclFinalize", "aclrtDeviceEnablePeerAccess", "aclrtGetDevice", "aclrtSetOpExecuteTimeOut"))
NO_STREAM = "0x0"
HOST = -1
H2D_STAGED = 5  # ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE: the call itself reads the source
# A query's answer that means complete.
COMPLETE = {"aclrtQueryEvent": 0, "aclrtQueryEventStatus": 1, "aclrtQueryEventWaitStatus": 0, "aclrtStreamQuery": 0}


class Unknown(Exception):
    """The log holds something that the oracle has no rule for."""


def signed64(value):
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


CONDITIONS = {  # of aclrtValueWait, SPEC 34 §5
    0: lambda word, value: signed64(word - value) >= 0,
    1: lambda word, value: word == value,
    2: lambda word, value: word & value != 0,
    3: lambda word, value: ~(word | value) & (1 << 64) - 1 != 0,
}


@dataclasses.dataclass(slots=True)
class Finding:
    at: int  # entry in which it was found
    kind: str
    first: tuple  # (stream id, task number, function)
    second: tuple


@dataclasses.dataclass(slots=True)
class State:
    """What a program finds: all that was before is known to the host."""
    device: int = 0
    streams: dict = dataclasses.field(default_factory=dict)  # (handle, device of a default stream) -> [id, device, tasks]
    events: dict = dataclasses.field(default_factory=dict)   # handle -> [is it a flag event, is it recorded]
    numbers: dict = dataclasses.field(default_factory=dict)  # signal or address of a word -> its number; None: unknown
    words: set = dataclasses.field(default_factory=set)      # addresses of words
    blocks: dict = dataclasses.field(default_factory=dict)   # address -> (bytes, device; -1: pinned memory of the host)


class Stream:
    def __init__(self, name, device, tasks):
        self.name, self.device, self.tasks = name, device, tasks
        self.pending = []  # tasks not looked at yet
        self.nodes = {}    # task number -> node
        self.last = None   # node of the latest task looked at
        self.waits_since = None  # when it began to wait
        self.freed = 0     # of a stream that may go on again: when it had begun to wait
        self.searched = False  # being forced, or looked through


@dataclasses.dataclass(slots=True)
class Task:
    number: int
    api: str
    entry: int   # that submitted it
    submit: int  # its node
    sides: list = dataclasses.field(default_factory=list)
    wait: object = None    # function: may the task pass, and with which edges? None: it must wait
    effect: object = None  # function: what looking at the task changes
    calls_host: bool = False  # a function of the program, which keeps the stream until it returned
    returned: int = None      # the host's node when it did
    edges: list = None        # a wait that may pass: the edges it got
    waits_for: tuple = None   # ("record", (stream, task number)), ("signal", key) or ("word", key, condition)
    changes: tuple = None     # ("signal", key) or ("word", key, value)


class Signal:
    def __init__(self, number):
        self.number = number
        self.changes = []  # nodes


def arrange(entries):
    """Calls in their order, functions among them by their numbers."""
    functions = sorted((e for e in entries if "function" in e), key=lambda e: e["order"])
    arranged, silent, taken, latest = [], [], 0, 0
    for call in entries:
        if "function" in call:
            continue
        if "order" not in call:
            silent.append(call)
            continue
        if call["order"] <= latest:
            raise Unknown(f"{call['api']} comes before an earlier call")
        latest = call["order"]
        while taken < len(functions) and functions[taken]["order"] < latest:
            arranged.append(functions[taken])
            taken += 1
        arranged += silent
        arranged.append(call)
        silent = []
    return arranged + functions[taken:] + silent


class Program:
    """`entries`: calls, and starts and returns of the program's functions. `order` of an entry numbers the first thing that
    the checker was told in it; what a call told it later has the numbers that no other entry has. An entry without it told
    nothing."""

    def __init__(self, state, entries):
        self.state, self.entries = state, arrange(entries)
        self.graph = Graph()
        self.expected = []
        self.tasks = {}           # entry -> (stream id, task number) that it submitted
        self.looked_at = {}       # entry that submitted a task -> entry in which the task was looked at
        self._host = None         # the host's latest node
        self._streams = {k: Stream(*v) for k, v in state.streams.items()}
        self._records = {}        # event -> (stream, task number) of its latest record in this program
        self._signals = {}
        self._ready = []
        self._clock = 0
        self._at = 0       # the present entry
        self._next = 0     # the next one
        self._number = None  # of the latest thing that the present call told

    def run(self):
        while self._next < len(self.entries):
            entry = self._take()
            if "function" in entry:
                self._function(entry)
            elif entry["code"] == 0:
                self._mean(entry)
        self._keep()
        return self

    def _take(self):
        self._at = self._next
        self._next += 1
        return self.entries[self._at]

    def _mean(self, call):
        meaning = getattr(self, "_" + call["api"], None)
        if meaning is None:
            if call["api"] not in SILENT:
                raise Unknown(f"no rule for {call['api']}")
            return
        self._number = None
        self._host = self.graph.add((HOST, 0, call["api"]), [(self._host, STRONG)] if self._host is not None else [])
        meaning(call["args"], call.get("out", {}))

    def _tell(self):
        """The present call tells the checker something: functions that started or returned before that did so."""
        call, at = self.entries[self._at], self._at
        if "order" not in call:
            raise Unknown(f"{call['api']} has no place in the order")
        if self._number is None:
            self._number = call["order"]
            return
        self._number += 1
        while (entry := self._upcoming()) and entry["order"] == self._number:
            if "function" not in entry:
                raise Unknown(f"{call['api']} told less than it should")
            self._function(self._take())
            self._at = at
            self._number += 1

    def _upcoming(self):
        """The next entry with a number. A function stands before the calls without one."""
        return next((e for e in itertools.islice(self.entries, self._next, None) if "order" in e), None)

    def _function(self, entry):
        stream = next((s for s in self._streams.values()
                       if (s.name, s.device) == (entry["stream"], entry["device"])), None)
        task = stream and next((t for t in stream.pending if t.number == entry["task"]), None)
        if task is None or not task.calls_host or task.api != entry["api"] or task.returned is not None:
            raise Unknown(f"stream {entry['stream']} has no function as task {entry['task']} that {entry['function']}")
        if entry["function"] == "starts":
            self._learn([(stream, task.number - 1)], STRONG)
            return
        # What the host did until now is before the tasks behind it.
        task.returned = self._host
        self._wake()
        self._drain()

    def _keep(self):
        known = self.graph.strongly[self._host] if self._host is not None else 0
        for key, stream in self._streams.items():
            if stream.pending or (stream.last is not None and not known >> stream.last & 1):
                raise Unknown(f"stream {stream.name} has tasks at the end that the host does not know to be complete")
            self.state.streams[key] = [stream.name, stream.device, stream.tasks]
        for event in self._records:
            self.state.events[event][1] = True
        for key, signal in self._signals.items():
            self.state.numbers[key] = signal.number

    # --- Streams ---

    def _stream(self, handle):
        key = (handle, self.state.device if handle == NO_STREAM else None)
        if key not in self._streams:
            if handle != NO_STREAM:
                raise Unknown(f"stream {handle} was not created")
            self._streams[key] = Stream(None, self.state.device, 0)
        return self._streams[key]

    def _submit(self, handle, sides=(), wait=None, effect=None, calls_host=False, waits_for=None, changes=None):
        self._tell()
        stream = self._stream(handle)
        task = Task(stream.tasks, self.entries[self._at]["api"], self._at, self._host, list(sides), wait, effect, calls_host,
                    waits_for=waits_for, changes=changes)
        if calls_host:
            task.wait = lambda: [task.returned] if task.returned is not None else None
        stream.tasks += 1
        self.tasks[self._at] = (stream.name, task.number)
        stream.pending.append(task)
        if len(stream.pending) == 1:
            stream.freed = 0
            self._ready.append(stream)
            self._drain()
        return stream, task.number

    def _drain(self):
        # In rounds, each over the streams that waited when it began, in the order in which they had begun to wait.
        reached, end = -1, self._clock
        while self._ready:
            round_ = [s for s in self._ready if reached < s.freed <= end]
            if not round_:
                reached, end = -1, self._clock
                continue
            stream = min(round_, key=lambda s: s.freed)
            reached = stream.freed
            self._ready.remove(stream)
            while stream.pending and self._may_pass(stream):
                self._look_at(stream)

    def _may_pass(self, stream):
        task = stream.pending[0]
        if task.wait is not None and task.edges is None:
            task.edges = task.wait()
        if task.wait is None or task.edges is not None:
            stream.freed, stream.waits_since = stream.waits_since or 0, None
            return True
        if stream.waits_since is None:
            self._clock += 1
            stream.waits_since = self._clock
        return False

    def _look_at(self, stream):
        task = stream.pending.pop(0)
        edges = [(task.submit, STRONG)]
        if stream.last is not None:
            edges.append((stream.last, STRONG))
        edges += [(node, STRONG) for node in task.edges or ()]
        node = self.graph.add((stream.name, task.number, task.api), edges)
        stream.last = stream.nodes[task.number] = node
        self.looked_at[task.entry] = self._at
        self._verdict(node, task.sides)
        if task.effect is not None:
            task.effect(node)
            self._wake()

    def _wake(self):
        """Lets the streams go on whose wait is satisfied now, in the order in which they began to wait."""
        waiting = [s for s in self._streams.values() if s.waits_since is not None]
        for stream in sorted(waiting, key=lambda s: s.waits_since):
            if self._may_pass(stream):
                self._ready.append(stream)

    def _verdict(self, node, sides):
        for pages, writes in sides:
            if writes:
                self._overwrite(pages)
        if verdict := self.graph.access(node, sides):
            kind, other = verdict
            self.expected.append(Finding(self._at, kind, self.graph.names[other], self.graph.names[node]))

    # --- What the host learns ---

    def _learn(self, complete, strong):
        """`complete`: (stream, task number), each with all tasks before it."""
        edges = []
        for stream, number in complete:
            self._force(stream, number)
            if done := [node for task, node in stream.nodes.items() if task <= number]:
                edges.append((done[-1], strong))
        if edges:
            if self._host is not None:
                edges.append((self._host, STRONG))
            self._host = self.graph.add((HOST, 0, "returns"), edges)

    def _force(self, stream, number):
        """A task that is complete was not waiting any more: what it waited for in streams that stop only because a word
        changed unseen has happened too, and the other waits before it pass without an edge."""
        stream.searched = True
        while stream.pending and stream.pending[0].number <= number:
            head = stream.pending[0]
            if not self._may_pass(stream):
                if changer := self._changer_that_ran(head):
                    self._force(*changer)
                    continue
                head.edges = []
                stream.waits_since = None
            self._ready.append(stream)
            self._drain()
        stream.searched = False

    def _changer_that_ran(self, waiter):
        if waiter.waits_for is None:
            return None
        kind, what, *condition = waiter.waits_for
        if kind == "record":
            stream, number = what
            return what if number not in stream.nodes and self._may_have_run(stream, number) else None
        waiting = [s for s in self._streams.values() if s.waits_since is not None]
        for stream in sorted(waiting, key=lambda s: s.waits_since):
            for task in stream.pending:
                if task.changes is None or task.changes[:2] != (kind, what) or (
                        kind == "word" and not condition[0](task.changes[2])):
                    continue
                if self._may_have_run(stream, task.number):
                    return stream, task.number
        return None

    def _may_have_run(self, stream, number):
        if stream.searched:
            return False
        stream.searched = True
        ran = all(self._explained(task) for task in stream.pending if task.number <= number)
        stream.searched = False
        return ran

    def _explained(self, task):
        if task.calls_host:
            return task.returned is not None
        if task.waits_for is None or task.waits_for[0] == "word":
            return True
        if task.waits_for[0] == "record" and task.waits_for[1][1] in task.waits_for[1][0].nodes:
            return True
        return self._changer_that_ran(task) is not None

    def _wait(self, streams):
        """For one after the other, as they were made, each with the tasks that it has now."""
        for stream, number in [(s, s.tasks - 1) for s in streams]:
            self._tell()
            self._learn([(stream, number)], STRONG)

    def _aclrtSynchronizeStream(self, args, out):
        self._wait([self._stream(args["stream"])])

    _aclrtSynchronizeStreamWithTimeout = _aclrtSynchronizeStream

    def _aclrtSynchronizeDevice(self, args, out):
        self._wait(self._of_device(self.state.device))

    def _of_device(self, device):
        return [s for s in self._streams.values() if s.device == device]

    def _aclrtSynchronizeEvent(self, args, out):
        if record := self._records.get(args["event"]):
            self._tell()
            self._learn([record], STRONG)

    _aclrtSynchronizeEventWithTimeout = _aclrtSynchronizeEvent

    def _aclrtQueryEventStatus(self, args, out):
        if out["status"] == COMPLETE[self.entries[self._at]["api"]]:
            self._aclrtSynchronizeEvent(args, out)

    _aclrtQueryEvent = _aclrtQueryEventWaitStatus = _aclrtQueryEventStatus

    def _aclrtStreamQuery(self, args, out):
        if out["status"] == COMPLETE["aclrtStreamQuery"]:
            self._aclrtSynchronizeStream(args, out)

    def _aclrtStreamAbort(self, args, out):
        self._tell()
        stream = self._stream(args["stream"])
        # What was not looked at never happens.
        stream.pending.clear()
        stream.waits_since = None
        self._tell()
        self._learn([(stream, stream.tasks - 1)], STRONG)

    # --- Objects ---

    def _aclrtSetDevice(self, args, out):
        self.state.device = args["deviceId"]

    def _aclrtResetDevice(self, args, out):
        if "order" not in self.entries[self._at]:
            return  # it was set more often than this: it waited for nothing and took nothing away
        gone = self._of_device(args["deviceId"])
        self._wait(gone)
        for key in [k for k, s in self._streams.items() if s in gone]:
            del self._streams[key]
            self.state.streams.pop(key, None)

    def _aclrtCreateStream(self, args, out):
        self._streams[(out["stream"], None)] = Stream(None, self.state.device, 0)

    _aclrtCreateStreamWithConfig = _aclrtCreateStream

    def _aclrtStreamGetId(self, args, out):
        stream = self._stream(args["stream"])
        if stream.name is None:
            stream.name = out["streamId"]

    def _aclrtDestroyStream(self, args, out):
        stream = self._stream(args["stream"])
        self._wait([stream])
        del self._streams[(args["stream"], None)]
        self.state.streams.pop((args["stream"], None), None)

    def _aclrtCreateEvent(self, args, out):
        self.state.events[out["event"]] = [False, False]

    _aclrtCreateEventExWithFlag = _aclrtCreateEvent

    def _aclrtCreateEventWithFlag(self, args, out):
        self.state.events[out["event"]] = [True, False]

    def _aclrtDestroyEvent(self, args, out):
        for of in (self.state.events, self._records, self.state.numbers, self._signals):
            of.pop(args["event"], None)

    def _aclrtCreateNotify(self, args, out):
        pass

    def _aclrtDestroyNotify(self, args, out):
        for of in (self.state.numbers, self._signals):
            of.pop(args["notify"], None)

    def _aclrtMalloc(self, args, out):
        self.state.blocks[int(out["devPtr"], 16)] = args["size"], self.state.device

    def _aclrtMallocHost(self, args, out):
        self.state.blocks[int(out["hostPtr"], 16)] = args["size"], HOST

    def _aclrtFree(self, args, out):
        self._forget(args["devPtr"])

    def _aclrtFreeWithDevSync(self, args, out):
        _, device = self.state.blocks[int(args["devPtr"], 16)]
        self._wait(self._of_device(device))
        self._forget(args["devPtr"])

    def _aclrtFreeHost(self, args, out):
        self._forget(args["hostPtr"])

    def _forget(self, address):
        at = int(address, 16)
        size, _ = self.state.blocks.pop(at)
        self.graph.forget(linear(at, size))
        self._overwrite(linear(at, size))

    def _overwrite(self, pages):
        """What these bytes held as words is not known any more."""
        for key in self.state.words & (self._signals.keys() | self.state.numbers.keys()):
            if any(bits & pages.get(page, 0) for page, bits in linear(int(key, 16), 8).items()):
                self._signals[key] = Signal(None)

    # --- Events and signals ---

    def _signal(self, key):
        if key not in self._signals:
            self._signals[key] = Signal(self.state.numbers.get(key, None if key in self.state.words else 0))
        return self._signals[key]

    def _word(self, key):
        self.state.words.add(key)
        return self._signal(key)

    def _is_flag(self, event):
        return self.state.events[event][0]

    def _change(self, signal, number):
        def effect(node):
            signal.number = number
            signal.changes.append(node)
        return effect

    def _empty(self, signal):
        def effect(_):
            signal.number = 0
            signal.changes.clear()
        return effect

    def _wait_for(self, signal, condition, clears):
        def wait():
            if not condition(signal.number):
                return None
            edges = list(signal.changes)
            if clears:
                signal.number = 0
                signal.changes.clear()
            return edges
        return wait

    def _aclrtRecordEvent(self, args, out):
        event = args["event"]
        # A record happens when it is looked at; that lets go on who waits for it.
        is_flag = self._is_flag(event)
        effect = self._change(self._signal(event), 1) if is_flag else (lambda node: None)
        self._records[event] = self._submit(args["stream"], effect=effect, changes=("signal", event) if is_flag else None)

    def _aclrtStreamWaitEvent(self, args, out):
        event = args["event"]
        if self._is_flag(event):
            self._submit(args["stream"], wait=self._wait_for(self._signal(event), lambda n: n == 1, False),
                         waits_for=("signal", event))
            return
        record = self._records.get(event)  # H7: bound now; one of an earlier program is complete and known
        if record is None:
            self._submit(args["stream"])
            return
        stream, number = record
        self._submit(args["stream"], wait=lambda: [stream.nodes[number]] if number in stream.nodes else None,
                     waits_for=("record", record))

    def _aclrtResetEvent(self, args, out):
        if not self._is_flag(args["event"]):
            raise Unknown("no rule for a reset of a plain event")
        self._submit(args["stream"], effect=self._empty(self._signal(args["event"])))

    def _aclrtRecordNotify(self, args, out):
        self._submit(args["stream"], effect=self._change(self._signal(args["notify"]), 1), changes=("signal", args["notify"]))

    def _aclrtWaitAndResetNotify(self, args, out):
        self._submit(args["stream"], wait=self._wait_for(self._signal(args["notify"]), lambda n: n == 1, True),
                     waits_for=("signal", args["notify"]))

    def _aclrtValueWrite(self, args, out):
        def effect(node):
            # SPEC 20 H10: a wait is ordered after the write that it sees, and that is the latest.
            signal = self._word(args["devAddr"])
            signal.number, signal.changes = args["value"], [node]
        self._submit(args["stream"], effect=effect, changes=("word", args["devAddr"], args["value"]))

    def _aclrtValueWait(self, args, out):
        condition = CONDITIONS[args["flag"]]

        def holds(number):
            return number is not None and condition(number, args["value"])

        def wait():
            signal = self._word(args["devAddr"])
            return list(signal.changes) if holds(signal.number) else None
        self._submit(args["stream"], wait=wait, waits_for=("word", args["devAddr"], holds))

    # --- Accesses ---

    def _aclrtMemcpy(self, args, out):
        self._tell()
        self._verdict(self._host, self._sides(args))

    _aclrtMemcpy2d = _aclrtMemcpy

    def _aclrtMemset(self, args, out):
        self._tell()
        self._verdict(self._host, [(linear(int(args["devPtr"], 16), args["count"]), True)])

    def _aclrtMemsetAsync(self, args, out):
        self._submit(args["stream"], [(linear(int(args["devPtr"], 16), args["count"]), True)])

    def _aclrtMemcpyAsync(self, args, out):
        source, target = self._sides(args)
        if args["kind"] == H2D_STAGED:
            self._tell()
            self._verdict(self._host, [source])
            self._submit(args["stream"], [target])
            return
        stream, number = self._submit(args["stream"], [source, target])
        if self._pageable(args["src"]) or self._pageable(args["dst"]):
            self._tell()
            self._learn([(stream, number)], BY_THE_WAY)

    _aclrtMemcpy2dAsync = _aclrtMemcpyAsync

    def _sides(self, args):
        source, target = int(args["src"], 16), int(args["dst"], 16)
        if "count" in args:
            return [(linear(source, args["count"]), False), (linear(target, args["count"]), True)]
        width, rows = args["width"], args["height"]
        return [(box(source, args["spitch"], width, rows), False), (box(target, args["dpitch"], width, rows), True)]

    def _pageable(self, address):
        at = int(address, 16)
        return not any(start <= at < start + size for start, (size, _) in self.state.blocks.items())

    # --- Host functions ---

    def _aclrtLaunchHostFunc(self, args, out):
        self._submit(args["stream"], calls_host=True)
