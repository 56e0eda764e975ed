import HearthWire
package import JSONRPC
package import UTF8Text

/// `watch.removeTargets`: removes targets from an open watch stream.
package enum RemoveWatchTargets: WatchTargetsMethod {
    package static let name: UTF8Key = "watch.removeTargets"
    package static let summary = "Removes targets from an open watch stream. Those that the stream does not have are ignored."
    package static let targets = Parameter<[Int]>(WatchRequestKeys.targets, "The IDs of the targets to remove.")
    package static let examples = [
        RPCExample("a target", params: #"{"stream": "q7Zb1nV2sQ0yO3mXk5aRdA", "targets": [2]}"#, result: "{}")
    ]

    package static func change(_ id: Int) -> WatchTargetChange? {
        Int32(exactly: id).map { .remove(id: $0) }
    }
}
