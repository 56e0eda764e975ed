import DocumentModel
import HearthHTTP
import HummingbirdCore
import UTF8Text

/// The parameters in the URL of a WebChannel request.
struct WebChannelParameters {
    /// `SID`: the ID of the channel; `nil` for a handshake.
    let sid: UTF8Key?
    /// `AID`: the last array that the client has received.
    let acknowledgedID: Int
    /// True with `RID=rpc`, which opens a back channel.
    let opensBackChannel: Bool
    /// True with `TYPE=terminate`.
    let terminates: Bool
    /// True with `CI=1`: the response is complete with the first arrays.
    let isLongPoll: Bool
    /// `TO`: the longest duration of a long poll.
    let timeout: Duration?
    /// `$httpHeaders`: the header block of older clients.
    let headers: UTF8Key?

    init(_ request: Request) throws(StatusError) {
        let items = try QueryString(request.rawQuery).items
        func value(_ name: UTF8Key) -> UTF8Key? { items.first { $0.name == name }?.value }
        if let version = value("VER"), version != "8" {
            throw StatusError(.invalidArgument, "Unsupported version of WebChannel \(Excerpt(version.string)); use VER=8.")
        }
        let number = { (name: UTF8Key) in value(name).flatMap { WebChannelFormReader.number($0.utf8) } }
        sid = value("SID").flatMap { $0 == "null" || $0.byteCount == 0 ? nil : $0 }
        acknowledgedID = number("AID") ?? 0
        opensBackChannel = value("RID") == "rpc"
        terminates = value("TYPE") == "terminate"
        isLongPoll = value("CI") == "1"
        timeout = number("TO").map { .milliseconds($0) }
        headers = value("$httpHeaders")
    }
}
