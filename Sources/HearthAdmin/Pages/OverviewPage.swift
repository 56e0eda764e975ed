import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// The first page: the collections at the top, and what the server says of itself.
struct OverviewPage: Page {
    static let template = TemplateLibrary.Name.overview

    /// A named property of the server.
    struct Fact: Sendable {
        let name: String
        let value: DisplayText
        let time: TimeView?
    }

    var chrome = PageChrome(title: "Overview")
    private let facts: [Fact]
    private let firstCall: String

    /// - Parameters:
    ///   - info: What the server says of itself.
    ///   - host: The `Host` that the browser called, for the example.
    ///   - now: The present.
    init(_ info: ServerInfo.Result, host: String?, now: Timestamp) {
        let position = info.position
        var facts = [
            Fact(name: "Version", value: DisplayText("\(ServerDescription.name) \(ServerDescription.version)"), time: nil),
            Fact(name: "Running", value: DisplayText(Age.text(of: info.uptime)), time: nil),
            Fact(name: "Commits", value: DisplayText(Counting.grouped(position.lastSequence.rawValue)), time: nil),
        ]
        if let time = position.lastCommitTime {
            facts.append(Fact(name: "Last commit", value: DisplayText(Age.text(of: time, at: now)), time: TimeView(time)))
        }
        self.facts = facts
        firstCall = Self.firstCall(to: host)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "facts": facts
        case "firstCall": firstCall
        // It lists the collections itself.
        case "hasSide": false
        case "isOverview": true
        case "damagedRoots": chrome.damagedRoots.orAbsent
        case "isEmpty": chrome.roots.isEmpty && chrome.damagedRoots == nil
        default: nil
        }
    }
}

extension OverviewPage {
    /// A command that creates a first document.
    private static func firstCall(to host: String?) -> String {
        let host = host.flatMap { isPlain($0) ? $0 : nil } ?? "127.0.0.1:8080"
        return """
            curl http://\(host)/rpc -H 'Content-Type: application/json' -d '{
              "jsonrpc": "2.0", "id": 1, "method": "documents.create",
              "params": {
                "collection": "books", "id": "hitchhiker",
                "fields": {"title": "The Hitchhiker\\u2019s Guide to the Galaxy", "numberOfPages": 816, "color": "#fd1c48"}
              }
            }'
            """
    }

    /// Whether the text has only what stands in hosts and ports, so that it can't end a word of a command line.
    private static func isPlain(_ host: String) -> Bool {
        !host.utf8.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
                    UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}

extension OverviewPage.Fact: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": self.name
        case "value": value
        case "time": time.orAbsent
        default: nil
        }
    }
}
