import DocumentModel
import Synchronization
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Upload store")
struct UploadStoreTests {
    /// Receives and adds a file of a size; returns `false` if the quota is exceeded.
    private func add(_ id: UTF8Key, of owner: UTF8Key, byteCount: Int = 1, to uploads: UploadStore) async throws -> Bool {
        let reservation = uploads.makeReservation()
        guard uploads.reserve(byteCount, in: reservation, for: owner) else { return false }
        let file = try await UploadedFile.make([UInt8](repeating: 1, count: byteCount), name: "x", reservation: reservation)
        return uploads.add(
            UploadStore.Upload(id: id, owner: owner, database: .standard, file: file, options: ImportOptions())
        )
    }

    @Test
    func `A file that is being received counts against the quota until it is released`() {
        let uploads = UploadStore(folder: "", quotaBytes: 100)
        var first: UploadQuota.Reservation? = uploads.makeReservation()
        let second = uploads.makeReservation()
        #expect(first.map { uploads.reserve(60, in: $0, for: "a") } == true)
        #expect(!uploads.reserve(41, in: second, for: "b"))
        #expect(uploads.reserve(40, in: second, for: "b"))
        #expect(!uploads.reserve(1, in: second, for: "b"))
        first = nil
        #expect(uploads.reserve(60, in: second, for: "b"))
    }

    @Test
    func `A file that is being imported counts against the quota`() async throws {
        let uploads = UploadStore(folder: "", quotaBytes: 100)
        #expect(try await add("1", of: "a", byteCount: 60, to: uploads))
        var claim: UploadStore.Claim? = uploads.claim("1", for: "a", in: .standard, jobID: "w")
        guard case .claimed? = claim else {
            Issue.record("The upload was not claimed")
            return
        }
        #expect(try await add("2", of: "a", byteCount: 60, to: uploads) == false)
        claim = nil
        #expect(try await add("2", of: "a", byteCount: 60, to: uploads))
    }

    @Test
    func `Expired uploads and those of the same owner are evicted, least recently used first`() async throws {
        let clock = Mutex(ContinuousClock.now)
        let uploads = UploadStore(folder: "", quotaBytes: 100) { clock.withLock { $0 } }
        for id in ["1", "2"] as [UTF8Key] {
            #expect(try await add(id, of: "a", byteCount: 50, to: uploads))
            clock.withLock { $0 += .seconds(1) }
        }
        #expect(uploads.upload("1", for: "a", in: .standard) != nil)
        #expect(try await add("3", of: "b", byteCount: 10, to: uploads) == false)
        #expect(try await add("4", of: "a", byteCount: 10, to: uploads))
        #expect(uploads.upload("1", for: "a", in: .standard) != nil)
        #expect(uploads.upload("2", for: "a", in: .standard) == nil)
        clock.withLock { $0 += UploadStore.idleTimeout }
        #expect(try await add("5", of: "b", byteCount: 100, to: uploads))
    }

    @Test
    func `The number of uploads is limited per owner and in total`() async throws {
        let uploads = UploadStore(folder: "")
        for number in 0...UploadStore.maximumCountPerOwner { #expect(try await add(UTF8Key("\(number)"), of: "0", to: uploads)) }
        #expect(uploads.upload("0", for: "0", in: .standard) == nil)
        #expect(uploads.upload("1", for: "0", in: .standard) != nil)
        var ownerCount = 0
        while ownerCount < 100, try await add("x", of: UTF8Key("owner \(ownerCount)"), to: uploads) { ownerCount += 1 }
        #expect(ownerCount == 90)
        #expect(uploads.upload("1", for: "0", in: .standard) != nil)
        #expect(try await add("y", of: "0", to: uploads))
    }
}
