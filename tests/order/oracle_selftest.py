#!/usr/bin/env python3
"""The oracle on logs written by hand: it accepts what it should, and is seen to refuse."""
import contextlib
import io
import json
import sys
import tempfile
import unittest

import oracle
import program

# Handles, devices' memory and pinned memory of every log.
STREAMS = {"s1": "0x51", "s2": "0x52", "s3": "0x53"}
DEVICE, PINNED, PAGEABLE = 0x10000, 0x20000, 0x30000
HOST = (-1, 0)
HOST_FUNCTION = "aclrtLaunchHostFunc"
# How often calls tell the order checker something: others do once.
TELL = {"aclrtSynchronizeDevice": len(STREAMS), **dict.fromkeys((
    "aclrtSetDevice", "aclrtCreateStream", "aclrtStreamGetId", "aclrtMalloc", "aclrtMallocHost", "aclrtCreateEvent",
    "aclrtCreateEventWithFlag", "aclrtCreateNotify", "aclrtSetOpExecuteTimeOut", "aclrtFree"), 0)}


class Log:
    """Writes a log: each method is a call; `found` belongs to the call or function event after it."""

    def __init__(self):
        self.lines = []
        self.order = 0  # the latest number
        self.call("aclrtSetDevice", deviceId=0)
        for number, handle in enumerate(STREAMS.values(), 1):
            self.call("aclrtCreateStream", stream="0x7ff0", out={"stream": handle})
            self.call("aclrtStreamGetId", stream=handle, streamId="0x7ff0", out={"streamId": number})
        self.call("aclrtMalloc", devPtr="0x7ff0", size=4096, policy=0, out={"devPtr": hex(DEVICE)})
        self.call("aclrtMallocHost", hostPtr="0x7ff0", size=4096, out={"hostPtr": hex(PINNED)})
        for kind, handle in (("", "0xe1"), ("WithFlag", "0xe2")):
            self.call("aclrtCreateEvent" + kind, event="0x7ff0", out={"event": handle})
        self.call("aclrtCreateNotify", notify="0x7ff0", flag=0, out={"notify": "0xa1"})
        self.call("aclrtSetOpExecuteTimeOut", timeout=1)

    def call(self, api, *, code=0, out=None, tells=None, **args):
        """`tells`: how often the call tells the checker something."""
        line = {"api": api, "code": code, "thread": 7, "ns": 1, "dur": 1, "args": args}
        if out:
            line["out"] = out
        tells = TELL.get(api, 1) if tells is None else tells
        if tells:
            line["order"] = self.order + 1
            self.order += tells
        self.lines.append(json.dumps(line))
        return self

    def function(self, event, stream, number):
        self.order += 1
        self.lines.append(json.dumps({"function": event, "api": HOST_FUNCTION, "device": 0, "stream": stream, "task": number,
                                      "order": self.order}))
        return self

    def starts(self, stream, number):
        return self.function("starts", stream, number)

    def returned(self, stream, number):
        return self.function("returned", stream, number)

    def launch(self, stream):
        return self.on(HOST_FUNCTION, stream, func="0x1", args="0x0")

    def found(self, kind, first, second):
        def side(number, api):
            return {"stream": number[0], "task": number[1], "api": api}
        self.lines.append(json.dumps({"finding": kind, "thread": 7, "ns": 1, "first": side(*first), "second": side(*second),
                                      "order": self.order + 1}))
        return self

    def fill(self, stream, at=0, count=64):
        return self.call("aclrtMemsetAsync", devPtr=hex(DEVICE + at), maxCount=count, value=1, count=count,
                         stream=STREAMS[stream])

    def out(self, stream, source=PINNED, at=0, count=64):
        return self.call("aclrtMemcpyAsync", dst=hex(DEVICE + at), destMax=count, src=hex(source), count=count, kind=1,
                         stream=STREAMS[stream], tells=2 if source == PAGEABLE else 1)

    def rows(self, stream, at, pitch, width, rows, source=PINNED):
        return self.call("aclrtMemcpy2dAsync", dst=hex(DEVICE + at), dpitch=pitch, src=hex(source), spitch=width,
                         width=width, height=rows, kind=1, stream=STREAMS[stream])

    def host_fill(self, at=0, count=64):
        return self.call("aclrtMemset", devPtr=hex(DEVICE + at), maxCount=count, value=1, count=count)

    def on(self, api, stream, **args):
        return self.call(api, **args, stream=STREAMS[stream])

    def record(self, stream, event="0xe1"):
        return self.on("aclrtRecordEvent", stream, event=event)

    def wait(self, stream, event="0xe1"):
        return self.on("aclrtStreamWaitEvent", stream, event=event)

    def judged(self):
        self.call("aclrtSynchronizeDevice")
        judge = oracle.Judge(out=io.StringIO())
        judge.read(self.lines)
        return judge


FILL, COPY, COPY2D, HOST_FILL = "aclrtMemsetAsync", "aclrtMemcpyAsync", "aclrtMemcpy2dAsync", "aclrtMemset"
MISSING, IMPLICIT = "missing-order", "implicit-order"


def task(stream, number, api):
    return (stream, number), api


class Case(unittest.TestCase):
    def accepted(self, log):
        judge = log.judged()
        self.assertEqual(judge.differing, 0, judge.out.getvalue())

    def refused(self, log, *texts):
        judge = log.judged()
        self.assertEqual(judge.differing, 1)
        for text in texts:
            self.assertIn(text, judge.out.getvalue())


class Findings(Case):
    """Two fills of the same bytes in two streams."""

    def test_reported(self):
        self.accepted(Log().fill("s1").found(MISSING, task(1, 0, FILL), task(2, 0, FILL)).fill("s2"))

    def test_not_reported(self):
        self.refused(Log().fill("s1").fill("s2"), "program 1:",
                     "only expected: missing-order first stream 1 task 0 aclrtMemsetAsync, second stream 2 task 0")

    def test_wrong_kind(self):
        self.refused(Log().fill("s1").found(IMPLICIT, task(1, 0, FILL), task(2, 0, FILL)).fill("s2"), "only reported")

    def test_wrong_task(self):
        self.refused(Log().fill("s1").found(MISSING, task(1, 1, FILL), task(2, 0, FILL)).fill("s2"), "only reported")

    def test_wrong_stream(self):
        self.refused(Log().fill("s1").found(MISSING, task(3, 0, FILL), task(2, 0, FILL)).fill("s2"), "only reported")

    def test_wrong_call(self):
        self.refused(Log().fill("s1").fill("s2").found(MISSING, task(1, 0, FILL), task(2, 0, FILL)), "only reported")

    def test_twice(self):
        log = Log().fill("s1").found(MISSING, task(1, 0, FILL), task(2, 0, FILL))
        self.refused(log.found(MISSING, task(1, 0, FILL), task(2, 0, FILL)).fill("s2"), "1 findings were reported twice")

    def test_false_alarm(self):
        self.refused(Log().fill("s1").found(MISSING, task(1, 0, FILL), task(2, 0, FILL)).fill("s2", at=64),
                     "only reported")

    def test_the_latest_is_named(self):
        log = Log().fill("s1", count=8).fill("s3", at=8, count=8)
        self.accepted(log.found(MISSING, task(3, 0, FILL), task(2, 0, FILL)).fill("s2"))
        log = Log().fill("s1", count=8).fill("s3", at=8, count=8)
        self.refused(log.found(MISSING, task(1, 0, FILL), task(2, 0, FILL)).fill("s2"))

    def test_a_call_that_failed_does_nothing(self):
        log = Log().fill("s1")
        self.accepted(log.call(FILL, code=107000, devPtr=hex(DEVICE), maxCount=8, value=1, count=8, stream="0x52"))

    def test_two_reads(self):
        self.accepted(Log().out("s1", at=0).out("s2", at=64))


class Boxes(Case):
    def test_rows_between_rows(self):
        self.accepted(Log().rows("s1", 0, 16, 8, 4).rows("s2", 8, 16, 8, 4, source=PINNED + 512))

    def test_last_byte_of_the_last_row(self):
        log = Log().rows("s1", 0, 16, 9, 4)
        self.accepted(log.found(MISSING, task(1, 0, COPY2D), task(2, 0, FILL)).fill("s2", at=3 * 16 + 8, count=1))
        self.accepted(Log().rows("s1", 0, 16, 8, 4).fill("s2", at=3 * 16 + 8, count=1))


class Edges(Case):
    """Each orders the second of two fills; without it there is a finding."""

    def ordered(self, write):
        self.accepted(write(Log().fill("s1")).fill("s2"))
        self.refused(write(Log().fill("s1")).found(MISSING, task(1, 0, FILL), task(2, 0, FILL)).fill("s2"))

    def not_ordered(self, write, second=0):
        self.refused(write(Log().fill("s1")).fill("s2"))
        self.accepted(write(Log().fill("s1")).found(MISSING, task(1, 0, FILL), task(2, second, FILL)).fill("s2"))

    def test_event(self):
        self.ordered(lambda log: log.record("s1").wait("s2"))
        self.not_ordered(lambda log: log.wait("s2").record("s1"), second=1)
        self.not_ordered(lambda log: log.record("s1").record("s3").wait("s2"), second=1)

    def test_flag_event(self):
        self.ordered(lambda log: log.record("s1", "0xe2").wait("s2", "0xe2"))

    def test_notify(self):
        self.ordered(lambda log: log.on("aclrtRecordNotify", "s1", notify="0xa1")
                     .on("aclrtWaitAndResetNotify", "s2", notify="0xa1", timeout=0))

    def test_value(self):
        def word(log, api, stream, value):
            return log.on(api, stream, devAddr=hex(DEVICE + 1024), value=value, flag=0)
        self.ordered(lambda log: word(word(log, "aclrtValueWrite", "s1", 5), "aclrtValueWait", "s2", 5))
        self.not_ordered(lambda log: word(word(word(log, "aclrtValueWrite", "s1", 5), "aclrtValueWrite", "s3", 6),
                                          "aclrtValueWait", "s2", 5), second=1)
        # What a word holds before anybody wrote it is not known: what is behind the wait is looked at when the host learns
        # that it is complete.
        self.accepted(word(Log().fill("s1"), "aclrtValueWait", "s2", 0).fill("s2")
                      .found(MISSING, task(1, 0, FILL), task(2, 1, FILL)))

    def test_change_behind_a_word_that_changed_unseen(self):
        def both(log):
            log.on("aclrtValueWait", "s1", devAddr=hex(DEVICE + 1024), value=0, flag=0).fill("s1")
            log.on("aclrtRecordNotify", "s1", notify="0xa1")
            return log.on("aclrtWaitAndResetNotify", "s2", notify="0xa1", timeout=0).fill("s2")
        self.accepted(both(Log()).on("aclrtSynchronizeStream", "s2"))
        self.refused(both(Log()).found(MISSING, task(1, 1, FILL), task(2, 1, FILL)).on("aclrtSynchronizeStream", "s2"))

    def test_host(self):
        self.ordered(lambda log: log.on("aclrtSynchronizeStream", "s1"))
        self.not_ordered(lambda log: log.on("aclrtSynchronizeStream", "s3"))
        self.ordered(lambda log: log.call("aclrtSynchronizeDevice"))
        self.ordered(lambda log: log.record("s1").call("aclrtSynchronizeEvent", event="0xe1"))
        self.ordered(lambda log: log.on("aclrtDestroyStream", "s1"))

    def test_queries(self):
        def query(status):
            return lambda log: log.on("aclrtStreamQuery", "s1", status="0x7ff0", out={"status": status})
        self.ordered(query(0))
        self.not_ordered(query(1))
        self.ordered(lambda log: log.record("s1").call("aclrtQueryEventStatus", event="0xe1", status="0x7ff0",
                                                       out={"status": 1}))
        self.not_ordered(lambda log: log.record("s1").call("aclrtQueryEventStatus", event="0xe1", status="0x7ff0",
                                                           out={"status": 0}))

    def test_wait_query(self):
        # The record is complete, a wait for it is not: "not ready" says nothing.
        def query(status):
            return lambda log: log.record("s1").call("aclrtQueryEventWaitStatus", event="0xe1", status="0x7ff0",
                                                     out={"status": status})
        self.ordered(query(0))
        self.not_ordered(query(1))

    def test_by_the_way(self):
        # The first copy is from pageable memory: its call waits.
        log = Log().out("s1", source=PAGEABLE).found(IMPLICIT, task(1, 0, COPY), task(2, 0, FILL)).fill("s2")
        self.accepted(log)
        self.refused(Log().out("s1", source=PAGEABLE).fill("s2"), "only expected: implicit-order")
        self.refused(Log().out("s1", source=PAGEABLE).found(MISSING, task(1, 0, COPY), task(2, 0, FILL)).fill("s2"))

    def test_host_access(self):
        self.accepted(Log().fill("s1").found(MISSING, task(1, 0, FILL), (HOST, HOST_FILL)).host_fill())
        self.refused(Log().fill("s1").host_fill())
        self.accepted(Log().host_fill().fill("s1"))


class LookedAtLate(Case):
    def log(self):
        # Stream 2 waits until the notify is recorded; its fill is looked at in that call, after that of stream 3.
        return Log().on("aclrtWaitAndResetNotify", "s2", notify="0xa1", timeout=0).fill("s2").fill("s3")

    def test_in_the_call_that_lets_it_go_on(self):
        log = self.log().found(MISSING, task(3, 0, FILL), task(2, 1, FILL))
        self.accepted(log.on("aclrtRecordNotify", "s1", notify="0xa1"))

    def test_not_before(self):
        log = Log().on("aclrtWaitAndResetNotify", "s2", notify="0xa1", timeout=0).fill("s2")
        log.found(MISSING, task(2, 1, FILL), task(3, 0, FILL)).fill("s3")
        self.refused(log.on("aclrtRecordNotify", "s1", notify="0xa1"))

    def test_what_the_host_knew_goes_with_the_record(self):
        log = self.log().on("aclrtSynchronizeStream", "s3")
        self.accepted(log.on("aclrtRecordNotify", "s1", notify="0xa1"))

    def test_a_later_record_is_not_what_satisfied_a_wait(self):
        # Both waits pass by the record of stream 3. Stream 1 records again behind its own wait; stream 2 does not
        # wait for that.
        log = Log().fill("s1").wait("s1", "0xe2").wait("s2", "0xe2").record("s1", "0xe2").fill("s2")
        log.found(MISSING, task(1, 0, FILL), task(2, 1, FILL)).record("s3", "0xe2")
        self.accepted(log)


class HostFunctions(Case):
    """Stream 1: a fill, a function, a fill of other bytes."""

    def log(self, log=None):
        return (log or Log()).fill("s1").launch("s1").fill("s1", at=64)

    FIRST = MISSING, task(1, 0, FILL), task(2, 0, FILL)

    def test_its_start_tells_the_host_what_is_before_it(self):
        log = lambda: self.log().starts(1, 1)
        self.accepted(log().fill("s2").returned(1, 1))
        self.refused(log().found(*self.FIRST).fill("s2").returned(1, 1), "only reported")

    def test_before_its_start_the_host_knows_nothing(self):
        self.accepted(self.log().found(*self.FIRST).fill("s2").starts(1, 1).returned(1, 1))
        self.refused(self.log().fill("s2").starts(1, 1).returned(1, 1), "only expected")

    def test_what_is_behind_it_is_looked_at_when_it_returned(self):
        finding = MISSING, task(2, 0, FILL), task(1, 2, FILL)
        log = lambda: self.log().fill("s2", at=64).starts(1, 1)
        self.accepted(log().found(*finding).returned(1, 1))
        self.refused(log().returned(1, 1), "only expected")
        self.refused(self.log().fill("s2", at=64).found(*finding).starts(1, 1).returned(1, 1), "only expected", "only reported")
        self.refused(self.log().found(MISSING, task(1, 2, FILL), task(2, 0, FILL)).fill("s2", at=64).starts(1, 1).returned(1, 1))

    def test_what_the_host_did_until_its_return_is_before_what_is_behind_it(self):
        log = lambda: self.log().starts(1, 1).host_fill(at=64)
        finding = MISSING, (HOST, HOST_FILL), task(1, 2, FILL)
        self.accepted(log().returned(1, 1))
        self.refused(log().found(*finding).returned(1, 1))
        # The fill that the host knows of is before it, too.
        self.accepted(self.log().fill("s2", at=64).starts(1, 1).on("aclrtSynchronizeStream", "s2").returned(1, 1))

    def test_after_its_return_the_host_goes_its_own_way(self):
        finding = MISSING, task(1, 2, FILL), (HOST, HOST_FILL)
        self.accepted(self.log().starts(1, 1).returned(1, 1).found(*finding).host_fill(at=64))
        self.refused(self.log().starts(1, 1).returned(1, 1).host_fill(at=64))

    def test_lets_others_go_on_that_wait_for_its_stream(self):
        finding = MISSING, task(3, 0, FILL), task(2, 1, FILL)
        log = lambda: Log().launch("s1").record("s1").wait("s2").fill("s2").fill("s3").starts(1, 0)
        self.accepted(log().found(*finding).returned(1, 0))
        self.refused(log().returned(1, 0))

    def test_return_inside_a_call(self):
        # The device is synchronised stream by stream: when the function of stream 2 returns the host knows of stream 1.
        begin = lambda: Log().fill("s1", at=64).launch("s2").fill("s2", at=64).starts(2, 0)
        finding = MISSING, task(1, 0, FILL), task(2, 1, FILL)
        self.accepted(begin().found(*finding).returned(2, 0).call("aclrtSynchronizeDevice"))

        def inside(log):
            first = log.order
            log.returned(2, 0).call("aclrtSynchronizeDevice", tells=2)
            log.lines[-1] = json.dumps({**json.loads(log.lines[-1]), "order": first})
            return log

        def gap():
            log = begin()
            log.order += 1
            return log
        self.accepted(inside(gap()))
        self.refused(inside(gap().found(*finding)), "only reported")

    def test_a_copy_that_waits_learns_later_than_it_submits(self):
        # The function of stream 2 returns between: what is behind it has no order with the copy.
        def log(found):
            log = Log().launch("s2").fill("s2").starts(2, 0)
            log.order += 1
            first = log.order
            if found:
                log.found(MISSING, task(1, 0, COPY), task(2, 1, FILL))
            log.returned(2, 0).out("s1", source=PAGEABLE)
            log.lines[-1] = json.dumps({**json.loads(log.lines[-1]), "order": first})
            log.order -= 1
            return log
        self.accepted(log(True))
        self.refused(log(False), "only expected: missing-order")

    def test_functions_that_are_none(self):
        for event in ("starts", "returned"):
            with self.assertRaises(program.Unknown):
                self.log().function(event, 1, 0).judged()
            with self.assertRaises(program.Unknown):
                self.log().function(event, 2, 1).judged()
        with self.assertRaises(program.Unknown):
            self.log().starts(1, 1).returned(1, 1).returned(1, 1).judged()


class Aborts(Case):
    def log(self):
        return Log().fill("s1", at=64).on("aclrtWaitAndResetNotify", "s1", notify="0xa1", timeout=0).fill("s1")

    def abort(self, log):
        return log.on("aclrtStreamAbort", "s1", tells=2)

    def test_what_was_dropped_accesses_nothing(self):
        self.accepted(self.abort(self.log()).fill("s2"))
        self.accepted(self.abort(self.log().fill("s2")))
        self.refused(self.abort(self.log()).found(MISSING, task(1, 2, FILL), task(2, 0, FILL)).fill("s2"), "only reported")

    def test_the_host_knows_of_the_rest(self):
        self.accepted(self.abort(self.log()).fill("s2", at=64))
        self.accepted(self.log().found(MISSING, task(1, 0, FILL), task(2, 0, FILL)).fill("s2", at=64))

    def test_the_stream_goes_on(self):
        log = self.abort(self.log()).fill("s1")
        self.accepted(log.found(MISSING, task(1, 3, FILL), task(2, 0, FILL)).fill("s2"))


class Memory(Case):
    def test_staged_copy(self):
        # The call reads the host's bytes, the task writes those of the device.
        def staged(log):
            return log.call(COPY, dst=hex(DEVICE), destMax=64, src=hex(PINNED), count=64, kind=5, stream="0x52", tells=2)

        def back(log):
            return log.call(COPY, dst=hex(PINNED), destMax=64, src=hex(DEVICE + 64), count=64, kind=2, stream="0x51")
        self.accepted(staged(back(Log()).found(MISSING, task(1, 0, COPY), (HOST, COPY))))
        self.refused(staged(back(Log())), "only expected")
        self.accepted(staged(Log().fill("s1").found(MISSING, task(1, 0, FILL), task(2, 0, COPY))))
        self.accepted(back(staged(Log())))

    def test_a_free_block_forgets(self):
        def log(between):
            log = Log().out("s1", source=PAGEABLE).call("aclrtFree", devPtr=hex(DEVICE))
            return between(log).call("aclrtMalloc", devPtr="0x7ff0", size=64, policy=0, out={"devPtr": hex(DEVICE)})
        self.accepted(log(lambda log: log).fill("s2"))
        self.refused(log(lambda log: log).found(IMPLICIT, task(1, 0, COPY), task(2, 0, FILL)).fill("s2"))


class Logs(Case):
    def test_an_unknown_call_is_an_error(self):
        with self.assertRaises(program.Unknown):
            Log().call("aclrtMemcpyBatch").judged()

    def test_tasks_that_the_host_does_not_know_of(self):
        with self.assertRaises(program.Unknown):
            oracle.Judge(out=io.StringIO()).read(Log().fill("s1").lines)

    def test_calls_out_of_order(self):
        log = Log().fill("s1").fill("s2", at=64)
        log.lines[-1], log.lines[-2] = log.lines[-2], log.lines[-1]
        with self.assertRaises(program.Unknown):
            log.judged()

    def test_a_call_that_has_no_place(self):
        with self.assertRaises(program.Unknown):
            Log().on("aclrtSynchronizeStream", "s1", tells=0).judged()

    def test_a_call_that_told_less(self):
        with self.assertRaises(program.Unknown):
            Log().call("aclrtSynchronizeDevice", tells=1).judged()
        with self.assertRaises(program.Unknown):
            Log().call("aclrtSynchronizeDevice", tells=1).call("aclrtSetDevice", deviceId=0).judged()

    def test_programs_are_counted(self):
        log = Log().call("aclrtSynchronizeDevice").call("aclrtSetOpExecuteTimeOut", timeout=2)
        self.assertEqual(log.judged().programs, 2)


class Command(Case):
    def main(self, *words):
        sys.argv = ["oracle.py", *words]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            return oracle.main(), output.getvalue()

    def test_log(self):
        for right in (True, False):
            log = Log().fill("s1")
            if right:
                log.found(MISSING, task(1, 0, FILL), task(2, 0, FILL))
            log.fill("s2").call("aclrtSynchronizeDevice")
            with tempfile.NamedTemporaryFile("w") as file:
                file.write("\n".join(log.lines))
                file.flush()
                code, output = self.main("log", file.name)
            self.assertEqual(code, 0 if right else 1)
            self.assertIn("1 programs", output)

    def test_programs_that_fail(self):
        code, output = self.main("run", "--driver", "/bin/false")
        self.assertEqual(code, 1)
        self.assertIn("the programs ended with 1", output)

    def test_programs_that_do_nothing(self):
        self.assertEqual(self.main("run", "--driver", "/bin/true")[0], 1)


if __name__ == "__main__":
    unittest.main()
