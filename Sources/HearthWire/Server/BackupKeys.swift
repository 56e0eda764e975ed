package import UTF8Text

/// The member names of `backups.create`, `backups.verify` and `backups.list`.
package enum BackupKeys {
    package static let backups: UTF8Key = "backups"
    package static let runningSince: UTF8Key = "runningSince"
    package static let verifying: UTF8Key = "verifying"
    package static let lastFailure: UTF8Key = "lastFailure"
    package static let message: UTF8Key = "message"
    package static let includeKeys: UTF8Key = "includeKeys"
    package static let name: UTF8Key = "name"
    package static let startTime: UTF8Key = "startTime"
    package static let endTime: UTF8Key = "endTime"
    package static let databases: UTF8Key = "databases"
    package static let database: UTF8Key = "database"
    package static let lastCommit: UTF8Key = "lastCommit"
    package static let lastCommitTime: UTF8Key = "lastCommitTime"
    package static let files: UTF8Key = "files"
    package static let bytes: UTF8Key = "bytes"
    package static let verification: UTF8Key = "verification"
    package static let time: UTF8Key = "time"
    package static let faults: UTF8Key = "faults"
}
