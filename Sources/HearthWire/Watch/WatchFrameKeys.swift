package import UTF8Text

/// The members of a frame.
package enum WatchFrameKeys {
    package static let type: UTF8Key = "type"
    package static let epoch: UTF8Key = "epoch"
    package static let sequence: UTF8Key = "seq"
    package static let time: UTF8Key = "time"
    package static let heartbeat: UTF8Key = "heartbeat"
    package static let retained: UTF8Key = "retained"
    package static let document: UTF8Key = "document"
    package static let path: UTF8Key = "path"
    package static let before: UTF8Key = "before"
    package static let oldIndex: UTF8Key = "oldIndex"
    package static let newIndex: UTF8Key = "newIndex"
    package static let count: UTF8Key = "count"
    package static let number: UTF8Key = "n"
    package static let changeCount: UTF8Key = "of"
    package static let reason: UTF8Key = "reason"
    package static let token: UTF8Key = "token"
    package static let stream: UTF8Key = "stream"
    package static let target: UTF8Key = "target"
    package static let targets: UTF8Key = "targets"
    package static let removedTargets: UTF8Key = "removedTargets"
    package static let error: UTF8Key = "error"
}
