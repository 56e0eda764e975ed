import DocumentModel
import HearthWire
import SyncEngine
import Testing

@testable import HearthClient

/// The decoding of streams with several targets.
@Suite("Remote events") struct RemoteEventDecoderTests {
    private let ids = StreamTargetIDs()

    /// Adds targets with the same IDs on the stream as in the cache.
    private func decoder(new: [TargetID] = [], resumed: [TargetID] = []) -> RemoteEventDecoder {
        for target in new + resumed {
            ids.add(
                Int32(target),
                StreamTargetIDs.Entry(target: target, isResumed: resumed.contains(target), damaged: [:])
            )
        }
        return RemoteEventDecoder(ids)
    }

    private func changed(_ path: String, _ targets: String, out removedTargets: String = "", time: Int = 1) -> String {
        let times = #""createTime":"2026-01-01T00:00:00Z","updateTime":"2026-01-01T00:00:0\#(time)Z""#
        let document = #"{"path":"\#(path)","fields":{},\#(times)}"#
        return #"{"type":"changed","document":\#(document),"targets":[\#(targets)],"removedTargets":[\#(removedTargets)]}"#
    }

    private func current(_ target: Int) -> String { #"{"type":"current","target":\#(target),"seq":1,"token":"t"}"# }

    private func snapshot(_ token: String = "t") -> String {
        #"{"type":"snapshot","seq":1,"time":"2026-01-01T00:00:05Z","token":"\#(token)"}"#
    }

    /// Adds frames, and returns the updates that they complete.
    private func add(_ frames: String..., to decoder: inout RemoteEventDecoder) throws -> [RemoteEventDecoder.Update] {
        try frames.compactMap { try decoder.add(WatchFrame(line: Array($0.utf8))) }
    }

    private func path(_ text: String) throws -> DocumentPath { try DocumentPath(text) }

    @Test func `The complete state of a target is one event, which waits for its snapshot`() throws {
        var decoder = decoder(new: [1])
        #expect(try add(changed("a/1", "1"), changed("a/2", "1"), snapshot(), to: &decoder).isEmpty)
        let updates = try add(changed("a/3", "1"), current(1), snapshot("x"), to: &decoder)
        let change = try #require(updates.first?.event.targets[1])
        #expect(updates.count == 1 && change.isComplete && change.isCurrent && change.token == "x")
        #expect(try change.added == [path("a/1"), path("a/2"), path("a/3")])
        #expect(updates[0].event.documents.count == 3 && updates[0].event.time?.rfc3339 == "2026-01-01T00:00:05.000000Z")
        let next = try add(changed("a/4", "1"), snapshot(), to: &decoder)
        #expect(next.first?.event.targets[1]?.isComplete == false)
        #expect(try next.first?.event.targets[1]?.added == [path("a/4")])
    }

    @Test func `A commit is one event of the targets that it changes, with each document once, in its latest version`() throws {
        var decoder = decoder(new: [1, 2])
        _ = try add(current(1), current(2), snapshot(), to: &decoder)
        let updates = try add(
            changed("a/1", "1, 2", time: 1),
            changed("a/1", "2", out: "1", time: 2),
            #"{"type":"deleted","path":"a/2","time":"2026-01-01T00:00:03Z","removedTargets":[2]}"#,
            snapshot(),
            to: &decoder
        )
        let event = try #require(updates.first?.event)
        #expect(try event.targets[1]?.removed == [path("a/1")] && event.targets[2]?.removed == [path("a/2")])
        #expect(try event.targets[2]?.added == [path("a/1")])
        let versions = Dictionary(uniqueKeysWithValues: event.documents.map { ($0.path.string, $0.version.rfc3339) })
        #expect(versions == ["a/1": "2026-01-01T00:00:02.000000Z", "a/2": "2026-01-01T00:00:03.000000Z"])
    }

    @Test func `A new target holds nothing of the others back`() throws {
        var decoder = decoder(new: [1, 2])
        _ = try add(current(1), snapshot(), to: &decoder)
        let updates = try add(changed("a/1", "1"), changed("b/1", "2"), snapshot(), to: &decoder)
        #expect(updates.first?.event.targets.keys.sorted() == [1])
        #expect(try updates.first?.event.documents.map(\.path) == [path("a/1")])
        let complete = try add(current(2), snapshot(), to: &decoder)
        #expect(try complete.first?.event.targets[2]?.added == [path("b/1")])
        #expect(complete.first?.event.targets.keys.sorted() == [2])
    }

    @Test func `A snapshot names only the targets that it changes, and tells its token for all that are current`() throws {
        var decoder = decoder(new: [1, 2, 3], resumed: [4])
        _ = try add(current(1), current(2), current(4), snapshot(), to: &decoder)
        let updates = try add(changed("a/1", "2"), snapshot("x"), snapshot("y"), changed("a/2", "3"), snapshot("z"), to: &decoder)
        #expect(updates.map { $0.event.targets.keys.sorted() } == [[2], [], []])
        #expect(updates.map(\.event.token) == ["x", "y", "z"] && updates.map(\.currentTargetCount) == [3, 3, 3])
        #expect(updates[1].event.documents.isEmpty && updates[2].event.documents.isEmpty)
        let reset = try add(#"{"type":"reset","target":2}"#, snapshot(), to: &decoder)
        #expect(reset.map { $0.event.targets.keys.sorted() } == [[2], []] && reset.last?.currentTargetCount == 2)
    }

    @Test func `A resumed target has the changes since its token, or begins anew after a reset`() throws {
        var decoder = decoder(resumed: [1, 2])
        let updates = try add(
            #"{"type":"reset","target":2}"#,
            changed("a/1", "2", out: "1"),
            current(1),
            current(2),
            snapshot(),
            to: &decoder
        )
        #expect(updates.count == 2)
        #expect(updates[0].event.targets[2]?.isReset == true && updates[0].event.targets[2]?.isCurrent == false)
        #expect(updates[1].event.targets[1]?.isComplete == false && updates[1].event.targets[2]?.isComplete == true)
        #expect(try updates[1].event.targets[1]?.removed == [path("a/1")])
    }

    @Test func `A heartbeat while a complete state is being read changes nothing`() throws {
        var decoder = decoder(new: [1, 2])
        _ = try add(current(1), snapshot("x"), to: &decoder)
        let heartbeat = #"{"type":"heartbeat"}"#
        #expect(try add(heartbeat, changed("a/1", "2"), heartbeat, changed("a/2", "2"), heartbeat, to: &decoder).isEmpty)
        let updates = try add(current(2), heartbeat, snapshot("y"), to: &decoder)
        #expect(updates.count == 1 && updates[0].event.targets[2]?.isComplete == true)
        #expect(try updates.first?.event.targets[2]?.added == [path("a/1"), path("a/2")])
    }

    @Test func `An event says nothing of targets that were closed or opened anew after it was decoded`() throws {
        var stream = TargetStream()
        stream.begin()
        let requests = try (1...3).map { TargetRequest(id: $0, target: .document(try path("a/\($0)")), token: nil) }
        for request in requests { stream.add(request) }
        #expect(stream.takeRequests().map(\.id) == [1, 2, 3])
        var decoder = RemoteEventDecoder(stream.ids)
        let damage = #"{"type":"damaged","target":2,"error":{"code":15,"message":"x","data":{"path":"a/2"}}}"#
        let updates = try add(current(1), damage, current(2), current(3), snapshot(), to: &decoder)
        let update = try #require(updates.first)
        #expect(update.event.targets.keys.sorted() == [1, 2, 3] && update.currentTargetCount == 3)
        for request in requests.dropFirst() { stream.remove(request.id) }
        stream.add(requests[1])
        #expect(stream.takeRequests().map(\.id) == [4])
        let restricted = update.restricted(to: stream)
        #expect(restricted.event.targets.keys.sorted() == [1] && restricted.damaged.keys.sorted() == [1])
        #expect(restricted.event.token == "t")
        // Nor do they count among those that are up to date.
        #expect(try add(snapshot(), to: &decoder).first?.currentTargetCount == 1)
    }

    @Test func `Frames of a target that the client has removed are ignored`() throws {
        var decoder = decoder(new: [1, 2])
        _ = try add(changed("a/1", "1"), current(1), current(2), to: &decoder)
        ids.remove(1)
        let updates = try add(changed("a/2", "1, 2"), snapshot(), to: &decoder)
        #expect(updates.first?.event.targets.keys.sorted() == [2])
        #expect(try updates.first?.event.documents.map(\.path) == [path("a/2")])
        ids.remove(2)
        #expect(try add(changed("a/3", "2"), snapshot(), to: &decoder).isEmpty)
    }

    @Test func `Documents that cannot be read stay in their target, also after it is resumed, until they can`() throws {
        var decoder = decoder(new: [1])
        let damage = #"{"type":"damaged","target":1,"message":"line 3","path":"a/1","file":{"path":"documents/a/1.json"}}"#
        let updates = try add(damage, changed("a/2", "1"), current(1), snapshot(), to: &decoder)
        #expect(try updates.first?.damaged[1]?.keys.map(\.self) == [path("a/1")])
        #expect(try updates.first?.event.targets[1]?.modified == [path("a/1")])
        ids.add(1, StreamTargetIDs.Entry(target: 1, isResumed: true, damaged: try #require(updates.first?.damaged[1])))
        decoder = RemoteEventDecoder(ids)
        #expect(try add(current(1), snapshot(), to: &decoder).first?.damaged[1]?.count == 1)
        #expect(try add(changed("a/1", "1"), snapshot(), to: &decoder).first?.damaged[1]?.isEmpty == true)
    }

    @Test func `A removal without a document tells that its content is not known`() throws {
        var decoder = decoder(new: [1])
        _ = try add(changed("a/1", "1"), current(1), snapshot(), to: &decoder)
        let updates = try add(#"{"type":"removed","path":"a/1","removedTargets":[1]}"#, snapshot(), to: &decoder)
        #expect(try updates.first?.event.targets[1]?.removed == [path("a/1")])
        #expect(updates.first?.event.documents.isEmpty == true)
    }

    @Test(arguments: [#"{"type":"changed","targets":[1]}"#, #"{"type":"deleted","removedTargets":[1]}"#])
    func `A malformed frame is an error`(frame: String) throws {
        var decoder = decoder(new: [1])
        #expect(throws: StatusError.self) { try decoder.add(WatchFrame(line: Array(frame.utf8))) }
    }
}
