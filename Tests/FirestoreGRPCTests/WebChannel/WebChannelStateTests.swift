import DocumentModel
import TestSupport
import Testing

@testable import FirestoreGRPC

@Suite("WebChannel state")
struct WebChannelStateTests {
    private static let start = ContinuousClock.now

    private func time(_ seconds: Double) -> ContinuousClock.Instant { Self.start + .seconds(seconds) }

    private func array(_ text: String) -> WebChannelOutput.OutgoingArray {
        WebChannelOutput.OutgoingArray(content: Array(text.utf8), reservation: nil)
    }

    private func message(_ byteCount: Int = 1) -> WebChannelInput.Message {
        WebChannelInput.Message(json: Array(repeating: 0x61, count: byteCount), reservation: nil)
    }

    private func chunk(_ text: String) -> WebChannelState.Action { .write(Array(text.utf8)) }

    private func attach(
        _ channel: inout WebChannelState,
        acknowledging acknowledgedID: Int,
        longPoll timeout: Duration? = nil,
        at now: ContinuousClock.Instant
    ) throws -> Int {
        let id = channel.attach(after: acknowledgedID, longPoll: timeout, at: now)
        return try #require(id)
    }

    private func status(_ channel: WebChannelState) -> String { String(decoding: channel.status, as: UTF8.self) }

    // MARK: - Messages

    @Test
    func `Messages are taken in order, each once`() {
        var input = WebChannelInput()
        func receive(_ id: Int) -> WebChannelInput.Outcome { input.receive(message(id + 1), id: id) }
        func take() -> [Int] {
            var taken: [Int] = []
            while let message = input.next() { taken.append((message.json?.count ?? 0) - 1) }
            return taken
        }
        #expect(receive(0) == .accepted)
        #expect(receive(0) == .known)
        #expect(take() == [0])
        #expect(receive(0) == .known)
        #expect(receive(3) == .accepted)
        #expect(receive(2) == .accepted)
        #expect(receive(3) == .known)
        #expect(take() == [])
        #expect(!input.hasNext)
        #expect(receive(1) == .accepted)
        #expect(input.hasNext)
        #expect(take() == [1, 2, 3])
        #expect(receive(4) == .accepted)
        #expect(take() == [4])
    }

    @Test
    func `A message that cannot be encoded leaves no gap`() {
        var input = WebChannelInput()
        #expect(input.receive(message(), id: 1) == .accepted)
        #expect(input.receive(WebChannelInput.Message(json: nil, reservation: nil), id: 0) == .accepted)
        #expect(input.next()?.json == nil)
        #expect(input.next()?.json?.count == 1)
    }

    @Test
    func `Messages that the stream has not taken make further ones wait`() {
        var input = WebChannelInput()
        #expect(input.receive(message(WebChannelInput.maximumBytes), id: 0) == .accepted)
        #expect(input.receive(message(), id: 1) == .mustWait)
        #expect(input.receive(message(), id: 2) == .mustWait)
        #expect(input.next() != nil)
        #expect(input.receive(message(), id: 2) == .accepted)
        #expect(input.receive(message(), id: 1) == .accepted)
    }

    @Test
    func `Messages behind a gap are limited, and the missing one always has space`() {
        var input = WebChannelInput()
        for id in 1...WebChannelInput.maximumCount { #expect(input.receive(message(), id: id) == .accepted) }
        #expect(input.receive(message(), id: WebChannelInput.maximumCount + 1) == .full)
        #expect(input.receive(message(), id: 0) == .accepted)
        for _ in 0...WebChannelInput.maximumCount { #expect(input.next() != nil) }
        #expect(input.next() == nil)
        var other = WebChannelInput()
        #expect(other.receive(message(WebChannelInput.maximumBytes), id: 1) == .accepted)
        #expect(other.receive(message(), id: 2) == .full)
        #expect(other.receive(message(), id: 0) == .accepted)
    }

    // MARK: - Arrays

    @Test
    func `Chunks are as long as their UTF-16`() {
        let text = WebChannelChunk.make(Array(#"[[2,["aé😀"]]]"#.utf8))
        #expect(String(decoding: text, as: UTF8.self) == "14\n" + #"[[2,["aé😀"]]]"#)
        let document =
            #"{"documentChange":{"document":{"name":"projects/demo/databases/(default)/documents/c/a","fields":"#
            + #"{"n":{"stringValue":"é😀"}},"createTime":"2026-01-02T03:04:05.000001Z","#
            + #""updateTime":"2026-01-02T03:04:05.000001Z"},"targetIds":[2]}}"#
        let chunk = WebChannelChunk.make(Array("[[2,[\(document)]]]".utf8))
        #expect(chunk.starts(with: "237\n".utf8))
        #expect(chunk.count == 4 + 240)
        let handshake = WebChannelChunk.handshake(sid: "kTq0W3mZc1Yb7sVd2NfE4g")
        #expect(
            String(decoding: handshake, as: UTF8.self)
                == "51\n" + #"[[0,["c","kTq0W3mZc1Yb7sVd2NfE4g","",8,14,30000]]]"# + "\n"
        )
    }

    @Test
    func `Arrays share chunks up to a size`() throws {
        var output = WebChannelOutput()
        let long = String(repeating: "x", count: 40 << 10)
        #expect(output.append([array(#"["a"]"#), array(#"["b"]"#), array("[\"\(long)\"]"), array("[\"\(long)\"]")]) == true)
        #expect(output.lastID == 4)
        let next = output.nextChunk(after: 0)
        let first = try #require(next)
        #expect(first.lastID == 3)
        let beginning = String(decoding: first.bytes.prefix(30), as: UTF8.self)
        #expect(beginning.hasPrefix("40990\n" + #"[[1,["a"]],[2,["b"]],[3"#))
        let afterFirst = output.nextChunk(after: 3)
        let second = try #require(afterFirst)
        #expect(second.lastID == 4)
        let none = output.nextChunk(after: 4)
        #expect(none == nil)
        #expect(output.acknowledge(2)?.count == 2)
        let rest = output.nextChunk(after: 2)
        #expect(rest?.lastID == 3)
        #expect(output.acknowledge(1)?.isEmpty == true)
        #expect(output.acknowledge(5) == nil)
        #expect(output.acknowledge(4)?.count == 2)
        #expect(output.byteCount == 0)
    }

    @Test
    func `A stream waits for acknowledgements at a size`() {
        var output = WebChannelOutput()
        let large = array(String(repeating: "x", count: WebChannelOutput.maximumBytes))
        output.append(WebChannelOutput.noop)
        // A single message may be larger.
        #expect(output.append([large]) == true)
        #expect(output.append([array("a")]) == false)
        #expect(output.isBlocked)
        while let chunk = output.nextChunk(after: output.sentID) { #expect(chunk.lastID <= 2) }
        #expect(output.acknowledge(2)?.count == 2)
        #expect(!output.isBlocked)
        #expect(output.append([array("a")]) == true)
    }

    // MARK: - Back channel

    @Test
    func `The first bytes of a back channel are sent at once`() throws {
        var channel = WebChannelState(at: time(0))
        #expect(status(channel) == "7\n[0,0,0]")
        let id = try attach(&channel, acknowledging: 0, at: time(1))
        #expect(channel.nextAction(of: id, at: time(1)) == chunk("14\n" + #"[[1,["noop"]]]"#))
        #expect(channel.nextAction(of: id, at: time(1)) == .wait)
        #expect(!channel.isBackChannelReady(at: time(1)))
        #expect(channel.append([array(#"["a"]"#)]) == true)
        #expect(channel.isBackChannelReady(at: time(1)))
        #expect(channel.nextAction(of: id, at: time(2)) == chunk("11\n" + #"[[2,["a"]]]"#))
        #expect(channel.nextAction(of: id, at: time(2)) == .wait)
        #expect(status(channel) == "9\n[1,2,141]")
        #expect(channel.acknowledge(2)?.count == 2)
        #expect(status(channel) == "7\n[1,2,0]")
    }

    @Test
    func `Silence is interrupted by noops, and the back channel ends after a minute`() throws {
        var channel = WebChannelState(at: time(0))
        let id = try attach(&channel, acknowledging: 0, at: time(0))
        var actions: [Double: WebChannelState.Action] = [:]
        for second in stride(from: 0.0, through: 61, by: 1) {
            #expect(channel.check(at: time(second)) == false)
            guard channel.isBackChannelReady(at: time(second)) else { continue }
            actions[second] = channel.nextAction(of: id, at: time(second))
            if actions[second] == .end { break }
            #expect(channel.nextAction(of: id, at: time(second)) == .wait)
        }
        #expect(
            actions == [
                0: chunk("14\n" + #"[[1,["noop"]]]"#), 28: chunk("14\n" + #"[[2,["noop"]]]"#),
                56: chunk("14\n" + #"[[3,["noop"]]]"#), 60: .end,
            ]
        )
        #expect(status(channel).hasPrefix("9\n[0,3,"))
        // The next one acknowledges everything, and gets bytes at once.
        #expect(channel.acknowledge(3)?.count == 3)
        let next = try attach(&channel, acknowledging: 3, at: time(61))
        #expect(channel.nextAction(of: next, at: time(61)) == chunk("14\n" + #"[[4,["noop"]]]"#))
    }

    @Test
    func `What was lost with a back channel is sent again, and acknowledged arrays never are`() throws {
        var channel = WebChannelState(at: time(0))
        #expect(channel.append([array("1"), array("2"), array("3")]) == true)
        let lost = try attach(&channel, acknowledging: 0, at: time(0))
        #expect(channel.nextAction(of: lost, at: time(0)) == chunk("19\n[[1,1],[2,2],[3,3]]"))
        channel.detach(lost, at: time(1))
        #expect(channel.acknowledge(1)?.count == 1)
        let again = try attach(&channel, acknowledging: 1, at: time(2))
        #expect(channel.nextAction(of: again, at: time(2)) == chunk("13\n[[2,2],[3,3]]"))
        channel.detach(again, at: time(3))
        // A client that says less than before.
        let last = try attach(&channel, acknowledging: 0, at: time(4))
        #expect(channel.nextAction(of: last, at: time(4)) == chunk("13\n[[2,2],[3,3]]"))
    }

    @Test
    func `A new back channel replaces the old one`() throws {
        var channel = WebChannelState(at: time(0))
        let old = try attach(&channel, acknowledging: 0, at: time(0))
        #expect(channel.nextAction(of: old, at: time(0)) != .end)
        let new = try attach(&channel, acknowledging: 1, at: time(1))
        #expect(channel.nextAction(of: old, at: time(1)) == .end)
        channel.detach(old, at: time(1))
        #expect(status(channel).hasPrefix("9\n[1,2,"))
        #expect(channel.nextAction(of: new, at: time(1)) == chunk("14\n" + #"[[2,["noop"]]]"#))
    }

    @Test
    func `A back channel ends when the stream waits for an acknowledgement, or after some megabytes`() throws {
        var channel = WebChannelState(at: time(0))
        let large = String(repeating: "x", count: WebChannelOutput.maximumBytes)
        let id = try attach(&channel, acknowledging: 0, at: time(0))
        _ = channel.nextAction(of: id, at: time(0))
        #expect(channel.append([array(large)]) == true)
        #expect(channel.append([array("a")]) == false)
        #expect(!channel.canAppend)
        #expect(channel.nextAction(of: id, at: time(0)) != .wait)
        #expect(channel.nextAction(of: id, at: time(0)) == .end)
        var busy = WebChannelState(at: time(0))
        let other = try attach(&busy, acknowledging: 0, at: time(0))
        var count = 0
        while busy.nextAction(of: other, at: time(0)) != .end {
            #expect(busy.acknowledge(busy.output.lastID)?.count == 1)
            #expect(busy.append([array(large)]) == true)
            count += 1
        }
        #expect(count == 5)
    }

    @Test
    func `A long poll ends with the first arrays, or with a noop before its timeout`() throws {
        var channel = WebChannelState(at: time(0))
        let id = try attach(&channel, acknowledging: 0, longPoll: .seconds(10), at: time(0))
        #expect(channel.nextAction(of: id, at: time(0)) == .wait)
        #expect(channel.check(at: time(8)) == false)
        #expect(channel.nextAction(of: id, at: time(8)) == .wait)
        #expect(channel.check(at: time(9)) == false)
        #expect(channel.nextAction(of: id, at: time(9)) == chunk("14\n" + #"[[1,["noop"]]]"#))
        #expect(channel.nextAction(of: id, at: time(9)) == .end)
        #expect(status(channel).hasPrefix("8\n[0,1,"))
        let next = try attach(&channel, acknowledging: 1, longPoll: .seconds(600), at: time(10))
        #expect(channel.check(at: time(37)) == false)
        #expect(channel.append([array("a")]) == true)
        #expect(channel.nextAction(of: next, at: time(37)) == chunk("7\n[[2,a]]"))
        #expect(channel.nextAction(of: next, at: time(37)) == .end)
    }

    @Test
    func `Arrays that were not sent cannot be acknowledged`() throws {
        var channel = WebChannelState(at: time(0))
        #expect(channel.acknowledge(0)?.isEmpty == true)
        #expect(channel.acknowledge(1) == nil)
        #expect(channel.end(Array("1".utf8), at: time(0)).isEmpty)
        let id = try attach(&channel, acknowledging: 0, at: time(0))
        #expect(channel.acknowledge(1) == nil)
        #expect(channel.nextAction(of: id, at: time(0)) == chunk("7\n[[1,1]]"))
        #expect(channel.acknowledge(2) == nil)
        #expect(channel.acknowledge(1)?.count == 1)
        #expect(channel.nextAction(of: id, at: time(0)) == .end)
        #expect(channel.attach(after: 0, longPoll: nil, at: time(0)) == nil)
    }

    @Test
    func `A back channel skips what another request acknowledges meanwhile`() throws {
        var channel = WebChannelState(at: time(0))
        #expect(channel.append([array("1"), array("2")]) == true)
        let first = try attach(&channel, acknowledging: 0, at: time(0))
        #expect(channel.nextAction(of: first, at: time(0)) == chunk("13\n[[1,1],[2,2]]"))
        let second = try attach(&channel, acknowledging: 0, at: time(1))
        #expect(channel.acknowledge(2)?.count == 2)
        #expect(channel.append([array("3")]) == true)
        #expect(channel.nextAction(of: second, at: time(1)) == chunk("7\n[[3,3]]"))
        // One that has nothing left to send, and has not sent anything, waits.
        let third = try attach(&channel, acknowledging: 2, at: time(1))
        #expect(channel.acknowledge(3)?.count == 1)
        #expect(channel.nextAction(of: third, at: time(1)) == .wait)
    }

    /// Any requests in any order: the client gets every array once it has asked for it, and nobody waits without need or in a loop.
    @Test(arguments: 0..<40)
    func `Random requests`(round: Int) throws {
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed &+ UInt64(round))
        var now = 0.0
        var (appendedCount, takenCount, endedCount) = (0, 0, 0)
        for _ in 0..<20 {
            var channel = WebChannelState(at: time(now))
            var backChannel: Int?
            var received = 0
            for _ in 0..<100 {
                now += Double.random(in: 0...2, using: &generator)
                switch Int.random(in: 0..<11, using: &generator) {
                case 0, 1:
                    let isAppended = channel.append([array("x")])
                    if isAppended, !channel.hasEnded { appendedCount += 1 }
                case 2:
                    let isAcknowledged = channel.acknowledge(Int.random(in: 0...received, using: &generator)) != nil
                    #expect(isAcknowledged)
                    #expect(channel.acknowledge(channel.output.sentID + Int.random(in: 1...2, using: &generator)) == nil)
                case 3, 4:
                    let old = backChannel
                    let id = Int.random(in: 0...received, using: &generator)
                    let timeout: Duration? = generator.chance(50) ? .seconds(20) : nil
                    backChannel = channel.attach(after: id, longPoll: timeout, at: time(now)) ?? old
                    if let old, old != backChannel { #expect(channel.nextAction(of: old, at: time(now)) == .end) }
                case 5:
                    if let backChannel { channel.detach(backChannel, at: time(now)) }
                case 6, 7:
                    let id = max(0, channel.input.nextID + Int.random(in: -1...2, using: &generator))
                    _ = channel.receive(message(), id: id, at: time(now))
                case 8:
                    if channel.nextMessage() != nil { takenCount += 1 }
                case 9 where generator.chance(10):
                    if !channel.hasEnded { endedCount += 1 }
                    _ = channel.end(Array("0".utf8), at: time(now))
                default:
                    guard channel.check(at: time(now)) else { break }
                    channel = WebChannelState(at: time(now))
                    (backChannel, received) = (nil, 0)
                }
                guard let current = backChannel else { continue }
                try drain(&channel, current, at: time(now), received: &received)
                if channel.isBackChannelReady(at: time(now)) {
                    backChannel = nil
                } else {
                    #expect(received == channel.output.lastID)
                }
            }
        }
        #expect(appendedCount > 0 && takenCount > 0 && endedCount > 0)
    }

    /// Sends all that a back channel has to send.
    private func drain(
        _ channel: inout WebChannelState,
        _ backChannel: Int,
        at now: ContinuousClock.Instant,
        received: inout Int
    ) throws {
        for _ in 0..<100 {
            let isReady = channel.isBackChannelReady(at: now)
            let action = channel.nextAction(of: backChannel, at: now)
            #expect(isReady == (action != .wait))
            guard case .write(let bytes) = action else { return }
            let ids = String(decoding: bytes, as: UTF8.self).matches(of: /\[(\d+),/).compactMap { Int($0.1) }
            let (first, last) = (try #require(ids.first), try #require(ids.last))
            #expect(ids == Array(first...last))
            #expect(first <= received + 1 && first > channel.output.acknowledgedID)
            received = max(received, last)
        }
        Issue.record("The back channel does not end.")
    }

    // MARK: - End

    @Test
    func `The status of a stream is sent last`() throws {
        var channel = WebChannelState(at: time(0))
        let id = try attach(&channel, acknowledging: 0, at: time(0))
        _ = channel.nextAction(of: id, at: time(0))
        #expect(channel.receive(message(), id: 0, at: time(0)) == .accepted)
        #expect(channel.end(GRPCStatus(.permissionDenied, "No.").webChannelArray, at: time(1)).count == 1)
        let action = channel.nextAction(of: id, at: time(1))
        #expect(
            action
                == chunk("75\n" + #"[[2,[{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}]]]"#)
        )
        #expect(channel.nextAction(of: id, at: time(1)) == .end)
        // Messages that the client still sends are answered.
        #expect(channel.receive(message(), id: 1, at: time(1)) == .accepted)
        #expect(channel.append([array("late")]) == true)
        #expect(channel.output.lastID == 2)
        #expect(channel.end([], at: time(2)).isEmpty)
        // It may ask again for what it has not received.
        #expect(channel.attach(after: 1, longPoll: nil, at: time(2)) != nil)
        #expect(channel.attach(after: 2, longPoll: nil, at: time(2)) == nil)
        #expect(channel.check(at: time(30)) == false)
        #expect(channel.check(at: time(31)) == true)
    }

    @Test
    func `A channel without a back channel expires`() throws {
        var channel = WebChannelState(at: time(0))
        #expect(channel.check(at: time(74)) == false)
        #expect(channel.check(at: time(75)) == true)
        let id = try attach(&channel, acknowledging: 0, at: time(76))
        #expect(channel.check(at: time(300)) == false)
        channel.detach(id, at: time(301))
        #expect(channel.check(at: time(375)) == false)
        #expect(channel.check(at: time(376)) == true)
    }

    @Test
    func `A channel expires whose client acknowledges nothing`() throws {
        var channel = WebChannelState(at: time(0))
        let large = String(repeating: "x", count: WebChannelOutput.maximumBytes)
        #expect(channel.append([array(large)]) == true)
        #expect(channel.append([array("a")]) == false)
        for second in stride(from: 0.0, to: 200, by: 10) {
            // Arrays that have not been sent are not missing an acknowledgement.
            #expect(channel.check(at: time(second)) == (second >= 75))
        }
        var other = WebChannelState(at: time(0))
        #expect(other.append([array(large)]) == true)
        #expect(other.append([array("a")]) == false)
        for second in stride(from: 0.0, through: 80, by: 10) {
            let id = try attach(&other, acknowledging: 0, at: time(second))
            while other.nextAction(of: id, at: time(second)) != .end {}
            #expect(other.check(at: time(second)) == (second >= 75))
        }
        #expect(other.acknowledge(1)?.count == 1)
        #expect(other.check(at: time(81)) == false)
    }

    @Test
    func `A channel expires whose messages wait for a missing one`() throws {
        var channel = WebChannelState(at: time(0))
        let id = try attach(&channel, acknowledging: 0, at: time(0))
        #expect(channel.receive(message(), id: 1, at: time(1)) == .accepted)
        #expect(channel.receive(message(), id: 2, at: time(50)) == .accepted)
        #expect(channel.check(at: time(75)) == false)
        #expect(channel.receive(message(), id: 0, at: time(75)) == .accepted)
        #expect(channel.check(at: time(77)) == false)
        #expect(channel.receive(message(), id: 4, at: time(80)) == .accepted)
        #expect(channel.check(at: time(154)) == false)
        // A gap that is filled, with another one behind it, is not the same one.
        #expect(channel.receive(message(), id: 6, at: time(154)) == .accepted)
        #expect(channel.receive(message(), id: 3, at: time(154)) == .accepted)
        #expect(channel.check(at: time(228)) == false)
        #expect(channel.check(at: time(229)) == true)
        channel.detach(id, at: time(229))
    }

    @Test
    func `A closed channel retains nothing`() throws {
        var channel = WebChannelState(at: time(0))
        #expect(channel.receive(message(), id: 0, at: time(0)) == .accepted)
        #expect(channel.receive(message(), id: 2, at: time(0)) == .accepted)
        #expect(channel.append([array("a")]) == true)
        let id = try attach(&channel, acknowledging: 0, at: time(0))
        let (messages, arrays) = channel.close()
        #expect(messages.count == 2)
        #expect(arrays.count == 1)
        #expect(channel.nextAction(of: id, at: time(0)) == .end)
        #expect(channel.attach(after: 0, longPoll: nil, at: time(0)) == nil)
        #expect(channel.check(at: time(0)) == true)
    }
}
