import Foundation
import StorageIO
import UTF8Text

@testable import HearthAdmin

extension UploadedFile {
    /// Creates an uploaded file.
    ///
    /// - Parameter reservation: The reservation of its disk space; unlimited by default.
    static func make(
        _ bytes: [UInt8],
        name: UTF8Key,
        reservation: UploadQuota.Reservation = UploadQuota.Reservation(in: UploadQuota(limit: .max))
    ) async throws -> UploadedFile {
        let file = try await UnlinkedFile.create(inFolder: FileManager.default.temporaryDirectory.path)
        if !bytes.isEmpty { try await file.write(bytes, at: 0) }
        return UploadedFile(name: name, file: file, byteCount: bytes.count, reservation: reservation)
    }
}
