package import DocumentModel
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// The record of the last backup that was read as a whole and found without a fault, `verified.json` beside the backups.
///
/// ```json
/// {"backup":"2026-11-26T18-05-00Z","time":"…"}
/// ```
extension BackupFolder {
    private static let verificationName = "verified.json"

    /// Records that a backup has been verified. Durable when this returns.
    package func recordVerification(of name: String, at time: Timestamp) async throws(StatusError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("backup")
        writer.string(name)
        writer.key("time")
        writer.string(time.rfc3339)
        writer.endObject()
        let bytes = writer.finish() + [UInt8(ascii: "\n")]
        try await withRoot { root throws(StatusError) in
            try reportingInBackups("write", Self.verificationName) { () throws(FileSystemError) in
                try root.descriptor.replaceFile(
                    Self.verificationName,
                    with: bytes,
                    through: TemporaryName.fixed(Self.verificationName)
                )
            }
        }
    }

    /// Returns the time at which a backup was verified last; `nil` if none was, or the record is damaged.
    package func lastVerificationTime() async throws(StatusError) -> Timestamp? {
        try await withRoot { root throws(StatusError) in
            let bytes = try reportingInBackups("read", Self.verificationName) { () throws(FileSystemError) in
                try root.descriptor.contents(ofFile: Self.verificationName, maximumBytes: 1 << 16)
            }
            let time = bytes.flatMap { try? JSONText($0) }?.root["time"]?.string
            return time.flatMap { try? Timestamp(rfc3339: $0) }
        }
    }
}
