import StrictJSON
import TransportTestSupport
import UTF8Text

/// The frames of a stream with several targets, by a server that says what the tests want.
enum StreamFrames {
    static let open = #"{"type":"open","stream":"s","epoch":"e","seq":1,"heartbeat":15,"retained":0}"#
    /// The end of a stream whose ID token has expired.
    static let expired = #"{"type":"end","reason":"unauthenticated","token":"r0"}"#
    static let denied = #"{"type":"error","code":7,"message":"Denied.","data":{"status":"PERMISSION_DENIED"}}"#

    /// Returns the frames of a document with the field `n`, after which its target is current.
    ///
    /// - Parameter n: The field, and the second of the document's last update.
    static func document(_ path: String, _ n: Int, token: String = "t", target: String = "1") -> [String] {
        let time = time(n)
        let document =
            #"{"path":"\#(path)","fields":{"n":\#(n)},"createTime":"\#(self.time(0))","updateTime":"\#(time)"}"#
        let changed = #"{"type":"changed","document":\#(document),"targets":[\#(target)],"removedTargets":[]}"#
        return [changed] + current(target, at: time, token)
    }

    /// Returns the frames of a document that does not exist.
    static func missing(_ path: String, target: String = "1") -> [String] {
        let time = time(0)
        return [#"{"type":"deleted","path":"\#(path)","time":"\#(time)","removedTargets":[\#(target)]}"#]
            + current(target, at: time, "t")
    }

    private static func current(_ target: String, at time: String, _ token: String) -> [String] {
        [
            #"{"type":"current","target":\#(target),"seq":1,"time":"\#(time)","token":"\#(token)"}"#,
            #"{"type":"snapshot","seq":1,"time":"\#(time)","token":"\#(token)"}"#,
        ]
    }

    private static func time(_ second: Int) -> String { "2024-02-29T12:00:0\(second).000000Z" }
}

extension StubServer.Request {
    /// The targets of a stream, or of a call that adds some: their documents, IDs and resume tokens.
    var targets: [(path: String, id: String, resume: String?)] {
        guard let root = try? JSONText(Array(body.utf8)).root else { return [] }
        let object = root.elements?.first { _ in true } ?? root
        let targets = (object["params"] ?? object)["targets"]?.elements
        return (targets.map(Array.init) ?? []).compactMap { target in
            guard let path = target["document"]?.string, let id = target["id"] else { return nil }
            return (path, String(decoding: id.rawBytes, as: UTF8.self), target["resume"]?.string)
        }
    }

    /// The resume token of the first target of a stream.
    var resume: String? { targets.first?.resume }
}
