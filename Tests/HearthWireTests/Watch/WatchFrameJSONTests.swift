import DocumentModel
import DocumentStore
import HearthWire
import JSONRPC
import StrictJSON
import Testing

@testable import HearthAPI

@Suite("JSON of watch frames")
struct WatchFrameJSONTests {
    private static let time = "2024-02-29T12:00:00.000000Z"
    private static let json =
        #"{"path":"books/a","fields":{"n":1},"createTime":"2024-02-29T12:00:00.000000Z","updateTime":"2024-02-29T12:00:00.000000Z"}"#

    private static func document() throws -> EncodedDocument {
        try EncodedDocument(json: parsed(json))
    }

    private static func token() throws -> ResumeToken {
        try ResumeToken(
            target: .document(DocumentPath("books/a")),
            epoch: "e",
            sequence: SequenceNumber(7),
            time: Timestamp(rfc3339: time)
        )
    }

    private static func position(token: ResumeToken? = nil) throws -> OutgoingWatchFrame.Position {
        .init(sequence: SequenceNumber(7), time: try Timestamp(rfc3339: time), number: 1, count: 2, token: token)
    }

    private func line(_ frame: OutgoingWatchFrame) -> String {
        written { frame.write(to: &$0) }
    }

    private func frame(_ frame: OutgoingWatchFrame) throws -> WatchFrame {
        try WatchFrame(line: Array(line(frame).utf8))
    }

    /// The frames that the server sends, with their JSON.
    private static func frames() throws -> [(OutgoingWatchFrame, String)] {
        let token = try token()
        let path = try DocumentPath("books/a")
        let start = ResumeToken(target: .document(path), epoch: "e", sequence: .zero, time: .minimum)
        let document = try document()
        return [
            (
                try .open(
                    epoch: "e",
                    sequence: SequenceNumber(7),
                    time: Timestamp(rfc3339: time),
                    oldest: SequenceNumber(3),
                    heartbeat: .seconds(15)
                ),
                #"{"type":"open","epoch":"e","seq":7,"heartbeat":15,"retained":3,"time":"\#(time)"}"#
            ),
            (
                .open(epoch: "e", sequence: .zero, time: nil, oldest: SequenceNumber(1), heartbeat: .seconds(15)),
                #"{"type":"open","epoch":"e","seq":0,"heartbeat":15,"retained":1}"#
            ),
            (.change(.init(.added, path, document), position: nil), #"{"type":"added","document":\#(json)}"#),
            (
                .change(.init(.modified, path, document, before: document, oldIndex: 1, newIndex: 0), position: try position()),
                #"{"type":"modified","seq":7,"time":"\#(time)","document":\#(json),"before":\#(json),"oldIndex":1,"newIndex":0,"#
                    + #""n":1,"of":2}"#
            ),
            (
                .change(.init(.removed, path), position: try position()),
                #"{"type":"removed","seq":7,"time":"\#(time)","path":"books/a","n":1,"of":2}"#
            ),
            (
                .change(.init(.removed, path, document, before: document, oldIndex: 1), position: try position(token: token)),
                #"{"type":"removed","seq":7,"time":"\#(time)","path":"books/a","before":\#(json),"oldIndex":1,"n":1,"of":2,"#
                    + #""document":\#(json),"token":"\#(token.text)"}"#
            ),
            (
                .change(.init(.deleted, path), position: try position(token: token)),
                #"{"type":"deleted","seq":7,"time":"\#(time)","path":"books/a","n":1,"of":2,"token":"\#(token.text)"}"#
            ),
            (
                .damaged(
                    StatusError(
                        .dataLoss,
                        "Bad.",
                        path: "books/a",
                        file: .init(path: "documents/books/a.json", line: 1, column: 2)
                    )
                ),
                #"{"type":"damaged","message":"Bad.","path":"books/a","file":{"path":"documents/books/a.json","line":1,"column":2}}"#
            ),
            (
                .current(sequence: SequenceNumber(7), count: 2, token: token),
                #"{"type":"current","seq":7,"count":2,"time":"\#(time)","token":"\#(token.text)"}"#
            ),
            (
                .current(sequence: .zero, count: 0, token: start),
                #"{"type":"current","seq":0,"count":0,"token":"\#(start.text)"}"#
            ),
            (
                .heartbeat(sequence: SequenceNumber(7), count: nil, token: token),
                #"{"type":"checkpoint","seq":7,"time":"\#(time)","token":"\#(token.text)"}"#
            ),
            (
                .heartbeat(sequence: SequenceNumber(7), count: 2, token: token),
                #"{"type":"checkpoint","seq":7,"count":2,"time":"\#(time)","token":"\#(token.text)"}"#
            ),
            (.reset(.expired), #"{"type":"reset","reason":"expired"}"#),
            (.end(.timeout, token: nil), #"{"type":"end","reason":"timeout"}"#),
            (.end(.limit, token: token), #"{"type":"end","reason":"limit","token":"\#(token.text)"}"#),
        ]
    }

    @Test func `Frames have the documented JSON`() throws {
        for (frame, text) in try Self.frames() { #expect(line(frame) == text) }
    }

    @Test func `Clients read what the server writes`() throws {
        for (sent, text) in try Self.frames() {
            let frame = try frame(sent)
            #expect(frame.kind == sent.kind)
            #expect(frame.kind.name == sent.kind.name)
            #expect(frame.token == sent.token?.text)
            #expect(frame.line == Array(text.utf8))
            #expect(frame.error == nil)
            #expect(frame.kind.isLast == [.end, .error].contains(frame.kind))
            guard case .change(let change, let position) = sent else { continue }
            #expect(try frame.document() == change.document)
            if change.document == nil || change.kind == .removed { #expect(try frame.path() == change.path) }
            #expect(frame.sequence == position?.sequence.rawValue)
            #expect(frame.number == position?.number)
            #expect(try frame.time() == position?.time)
        }
    }

    @Test func `Clients read the time of each position`() throws {
        for (sent, _) in try Self.frames() {
            let expected: Timestamp? =
                switch sent {
                case .open(_, _, let time, _, _): time
                case .current(let sequence, _, let token), .heartbeat(let sequence, _, let token):
                    sequence == .zero ? nil : token.time
                case .change(_, let position): position?.time
                case .damaged, .reset, .end: nil
                }
            let time = try frame(sent).time()
            #expect(time == expected)
        }
    }

    @Test func `The damage of a document is read back`() throws {
        let error = StatusError(
            .dataLoss,
            "Bad.",
            path: "books/a",
            file: .init(path: "documents/books/a.json", line: 1, column: 2)
        )
        let damage = try frame(.damaged(error)).damage
        #expect(damage.code == .dataLoss && damage.message == "Bad." && damage.path == "books/a" && damage.file == error.file)
    }

    @Test func `An error frame has the error`() throws {
        let error = StatusError(.resourceExhausted, "Too many documents.", path: "books")
        let text = written { OutgoingWatchFrame.write(error.rpcError, to: &$0) }
        #expect(
            text
                == #"{"type":"error","code":8,"message":"Too many documents.","data":{"status":"RESOURCE_EXHAUSTED","path":"books"}}"#
        )
        let frame = try WatchFrame(line: Array(text.utf8))
        #expect(frame.kind == .error && frame.kind.isLast)
        #expect(frame.error?.code == .resourceExhausted && frame.error?.path == "books")
    }

    @Test func `Clients read the reason of an end, also an unknown one`() throws {
        let reasons: [(OutgoingWatchFrame.EndReason, WatchFrame.EndReason)] = [
            (.timeout, .timeout), (.limit, .limit), (.shutdown, .shutdown), (.revoked, .revoked),
            (.unauthenticated, .unauthenticated), (.slow, .slow),
        ]
        for (sent, expected) in reasons {
            let frame = try frame(.end(sent, token: Self.token()))
            #expect(frame.endReason == expected && expected.name == sent.rawValue)
            #expect(frame.token != nil && frame.kind.isLast)
        }
        for (text, reason) in [(#"{"type":"end","reason":"later"}"#, "later"), (#"{"type":"end"}"#, "")] {
            #expect(try WatchFrame(line: Array(text.utf8)).endReason == .other(reason))
        }
        #expect(try WatchFrame(line: Array(#"{"type":"open","reason":"shutdown"}"#.utf8)).endReason == nil)
    }

    @Test func `A frame of an unknown kind is kept`() throws {
        let frame = try WatchFrame(line: Array(#"{"type":"later","token":"t"}"#.utf8))
        #expect(frame.kind == .other("later") && frame.kind.name == "later" && !frame.kind.isLast)
        #expect(frame.token == "t")
        #expect(try frame.document() == nil)
    }

    @Test(arguments: ["", "[]", "{}", #"{"type":1}"#, #"{"type":"open""#])
    func `A line without a type is rejected`(text: String) {
        #expect(throws: StatusError.self) { try WatchFrame(line: Array(text.utf8)) }
    }
}

@Suite("JSON of watch targets")
struct WatchTargetJSONTests {
    /// Reads the parameters of a target as the server does.
    private func read(_ target: WatchTarget) throws -> PreparedWatchTarget {
        let json = try JSONText(target.parameters(resume: nil)).root
        return try PreparedWatchTarget(from: Arguments(object: json, at: .params, declared: PreparedWatchTarget.parameters))
    }

    @Test func `Targets of clients are read by the server`() throws {
        let query = StructuredQuery(
            .collection(try CollectionPath("books")),
            where: .field(try FieldPath("n"), .greater(.integer(1)))
        )
        #expect(try read(.document(DocumentPath("books/a"))) == .document(DocumentPath("books/a")))
        #expect(try read(.collection(CollectionPath("books"))) == .collection(CollectionPath("books")))
        guard case .query = try read(.collectionGroup(CollectionID("reviews"))) else { throw UnexpectedTarget() }
        guard case .query = try read(.query(query)) else { throw UnexpectedTarget() }
        let json = try parsed(#"{"collection":"books","where":{"field":"n","op":">","value":1}}"#)
        #expect(try read(.query(json)) == read(.query(query)))
    }

    @Test func `Parameters have the documented JSON`() throws {
        let target = WatchTarget.document(try DocumentPath("books/a"))
        #expect(String(decoding: target.parameters(resume: nil), as: UTF8.self) == #"{"document":"books/a"}"#)
        #expect(String(decoding: target.parameters(resume: "t"), as: UTF8.self) == #"{"document":"books/a","resume":"t"}"#)
        let group = WatchTarget.collectionGroup(try CollectionID("reviews"))
        #expect(String(decoding: group.parameters(resume: nil), as: UTF8.self) == #"{"collectionGroup":"reviews"}"#)
    }

    private struct UnexpectedTarget: Error {}
}
