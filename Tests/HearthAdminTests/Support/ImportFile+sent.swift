import DocumentStore
import Foundation
import StrictJSON

@testable import HearthAdmin

extension ImportFile {
    /// A file as if a browser had sent it.
    ///
    /// - Parameter share: The room that it takes; without, there is enough for it.
    static func sent(
        _ bytes: [UInt8],
        name: UTF8Key,
        share: UploadRoom.Share = UploadRoom.Share(of: UploadRoom(limit: .max))
    ) async throws -> ImportFile {
        let file = try await TemporaryFile.make(inFolder: FileManager.default.temporaryDirectory.path)
        if !bytes.isEmpty { try await file.write(bytes, at: 0) }
        return ImportFile(name: name, file: file, byteCount: bytes.count, share: share)
    }
}
