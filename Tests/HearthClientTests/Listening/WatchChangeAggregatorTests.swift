import DocumentModel
import Testing

@testable import HearthClient
@testable import HearthTransport

@Suite("Watch change aggregator")
struct WatchChangeAggregatorTests {
    private func frame(_ text: String) throws -> WatchFrame {
        try WatchFrame(Array(text.utf8), from: ServerAddress("http://127.0.0.1:1"))
    }

    private func document(_ type: String, _ id: String, _ number: Int, _ more: String = "") -> String {
        let time = "2024-02-29T12:00:0\(number).000000Z"
        return #"{"type":"\#(type)","document":{"path":"c/\#(id)","fields":{"n":\#(number)},"createTime":"\#(time)","#
            + #""updateTime":"\#(time)"}\#(more)}"#
    }

    /// Adds frames and describes the updates: `all a=1` or `changed a=2 b=-`.
    private func add(_ frames: [String], to aggregator: inout WatchChangeAggregator) throws -> [String] {
        try frames.compactMap { text in
            switch try aggregator.add(frame(text)) {
            case nil: return nil
            case .snapshot(let documents, let damaged)?:
                return describe("all", documents.mapValues(Optional.some), damaged)
            case .changes(let changes, let damaged)?:
                return describe("changed", changes, damaged)
            }
        }
    }

    private func describe(_ word: String, _ changes: [DocumentPath: Document?], _ damaged: [StatusError]) -> String {
        let parts = changes.sorted { $0.key < $1.key }.map { path, document in
            "\(path.id)=" + (document.map { "\($0.fields.map { "\($0.value)" }.joined())" } ?? "-")
        }
        return
            ([word] + parts.map { $0.replacing("integer(", with: "").replacing(")", with: "") }
            + damaged.map { "!\($0.path ?? "")" }).joined(separator: " ")
    }

    @Test func `Emits the complete initial state, then one update per commit`() throws {
        var aggregator = WatchChangeAggregator()
        aggregator.streamOpened(isResumed: false)
        let shown = try add(
            [
                #"{"type":"open","epoch":"e","seq":2,"heartbeat":15,"retained":1}"#, document("added", "b", 1),
                document("added", "a", 1), #"{"type":"damaged","message":"bad","path":"c/x"}"#,
                document("modified", "a", 2, #","seq":3,"n":1,"of":1"#),
                #"{"type":"deleted","seq":4,"path":"c/b","n":1,"of":1}"#, #"{"type":"current","seq":4,"count":1,"token":"t4"}"#,
                document("modified", "a", 3, #","seq":5,"n":1,"of":2"#),
                document("added", "b", 3, #","seq":5,"n":2,"of":2,"token":"t5""#),
                #"{"type":"checkpoint","seq":6,"token":"t6"}"#, #"{"type":"later","token":"t7"}"#,
                document("added", "x", 4, #","seq":8,"n":1,"of":1,"token":"t8""#),
                #"{"type":"deleted","seq":9,"path":"c/a","n":1,"of":1,"token":"t9"}"#,
            ],
            to: &aggregator
        )
        #expect(shown == ["all a=2 !c/x", "changed a=3 b=3 !c/x", "changed x=4", "changed a=-"])
    }

    @Test func `A removed document is gone, whether or not the frame has it`() throws {
        var aggregator = WatchChangeAggregator()
        aggregator.streamOpened(isResumed: false)
        let time = #""time":"2024-02-29T12:00:02.000000Z""#
        let shown = try add(
            [
                #"{"type":"open","epoch":"e","seq":2,"heartbeat":15,"retained":1,\#(time)}"#, document("added", "a", 1),
                document("added", "b", 2), #"{"type":"current","seq":2,"count":2,\#(time),"token":"t2"}"#,
                document("removed", "a", 3, #","path":"c/a","seq":3,"n":1,"of":2"#),
                #"{"type":"removed","seq":3,\#(time),"path":"c/b","n":2,"of":2,"token":"t3"}"#,
                #"{"type":"checkpoint","seq":6,"count":0,\#(time),"token":"t6"}"#,
            ],
            to: &aggregator
        )
        #expect(shown == ["all a=1 b=2", "changed a=- b=-"])
    }

    @Test func `Discards an incomplete commit when the stream is resumed`() throws {
        var aggregator = WatchChangeAggregator()
        aggregator.streamOpened(isResumed: false)
        #expect(
            try add([document("added", "a", 1), #"{"type":"current","seq":1,"count":1,"token":"t1"}"#], to: &aggregator) == [
                "all a=1"
            ]
        )
        #expect(try add([document("modified", "a", 2, #","seq":2,"n":1,"of":2"#)], to: &aggregator) == [])
        aggregator.streamOpened(isResumed: true)
        let again = [
            document("modified", "a", 2, #","seq":2,"n":1,"of":2"#),
            document("added", "b", 2, #","seq":2,"n":2,"of":2,"token":"t2""#),
        ]
        #expect(try add(again, to: &aggregator) == ["changed a=2 b=2"])
    }

    @Test func `Restarts after an incomplete initial state or a reset`() throws {
        var aggregator = WatchChangeAggregator()
        aggregator.streamOpened(isResumed: false)
        #expect(try add([document("added", "a", 1)], to: &aggregator) == [])
        aggregator.streamOpened(isResumed: false)
        #expect(
            try add([document("added", "b", 1), #"{"type":"current","seq":1,"count":1,"token":"t1"}"#], to: &aggregator) == [
                "all b=1"
            ]
        )
        aggregator.streamOpened(isResumed: true)
        let reset = [
            #"{"type":"reset","reason":"expired"}"#, document("added", "c", 2),
            #"{"type":"current","seq":9,"count":1,"token":"t9"}"#,
        ]
        #expect(try add(Array(reset.prefix(2)), to: &aggregator) == [])
        aggregator.streamOpened(isResumed: false)
        #expect(try add(Array(reset.dropFirst()), to: &aggregator) == ["all c=2"])
    }

    @Test func `Backoff starts at zero and grows exponentially`() {
        var backoff = ExponentialBackoff()
        #expect(backoff.nextDelay() == .zero)
        var last = Duration.zero
        for _ in 0..<20 {
            let next = backoff.nextDelay()
            #expect(next >= .milliseconds(100) && next <= .seconds(45))
            last = next
        }
        #expect(last >= .seconds(30))
        backoff.reset()
        #expect(backoff.nextDelay() == .zero)
    }
}
