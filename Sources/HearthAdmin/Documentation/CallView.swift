import StrictJSON

/// A call to be copied: as JSON-RPC, and as a line for the shell.
struct CallView: Sendable {
    private let json: String
    private let command: String

    init(_ call: TriedCall, curl: CurlCommand) {
        let request = (try? call.request()) ?? []
        json = (try? JSONText(request).root).map(JSONOutline.text) ?? ""
        command = curl.call(VisibleJSON.text(request))
    }
}

extension CallView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "json": json
        case "command": command
        default: nil
        }
    }
}
