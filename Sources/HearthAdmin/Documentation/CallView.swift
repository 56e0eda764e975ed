import HearthService
import StrictJSON

/// A call to be copied: as JSON-RPC, and as a line for the shell.
struct CallView: Sendable {
    private let json: String
    private let command: String
    /// The page on which the query can be written on; nil for another call.
    private let queryURL: String?

    init(_ call: TriedCall, curl: CurlCommand) {
        let request = (try? call.request()) ?? []
        json = (try? JSONText(request).root).map(JSONOutline.text) ?? ""
        let isQuery = call.method == RunQuery.name || call.method == AggregateQuery.name
        queryURL =
            isQuery
            ? AdminURL.query
                + AdminURL.query([("query", UTF8Key((try? JSONText(call.params).root).map(JSONOutline.text) ?? call.params))])
            : nil
        command = curl.call(VisibleJSON.text(request))
    }
}

extension CallView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "json": json
        case "command": command
        case "queryURL": queryURL.orAbsent
        default: nil
        }
    }
}
