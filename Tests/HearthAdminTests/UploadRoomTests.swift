import DocumentModel
import StrictJSON
import Synchronization
import Testing

@testable import HearthAdmin

@Suite("The room of files that are uploaded")
struct UploadRoomTests {
    /// Sends a file of so many bytes and has it kept; false when there is no room.
    private func send(_ id: UTF8Key, of visitor: UTF8Key, byteCount: Int = 1, to uploads: Uploads) async throws -> Bool {
        let share = uploads.makeShare()
        guard uploads.take(byteCount, for: share, of: visitor) else { return false }
        let file = try await ImportFile.sent([UInt8](repeating: 1, count: byteCount), name: "x", share: share)
        return uploads.keep(
            Uploads.Upload(id: id, visitor: visitor, database: .standard, file: file, plan: ImportPlan())
        )
    }

    @Test("A file that is on its way takes room until it is gone")
    func coming() {
        let uploads = Uploads(roomBytes: 100)
        var first: UploadRoom.Share? = uploads.makeShare()
        let second = uploads.makeShare()
        #expect(first.map { uploads.take(60, for: $0, of: "a") } == true)
        #expect(!uploads.take(41, for: second, of: "b"))
        #expect(uploads.take(40, for: second, of: "b"))
        #expect(!uploads.take(1, for: second, of: "b"))
        first = nil
        #expect(uploads.take(60, for: second, of: "b"))
    }

    @Test("A file takes room while it is imported")
    func importing() async throws {
        let uploads = Uploads(roomBytes: 100)
        #expect(try await send("1", of: "a", byteCount: 60, to: uploads))
        var found: Uploads.Found? = uploads.take("1", for: "a", in: .standard, work: "w")
        guard case .taken? = found else {
            Issue.record("The file was not taken")
            return
        }
        #expect(try await send("2", of: "a", byteCount: 60, to: uploads) == false)
        found = nil
        #expect(try await send("2", of: "a", byteCount: 60, to: uploads))
    }

    @Test("Only files of the same visitor make room, first those that were not used for the longest time")
    func makingRoom() async throws {
        let clock = Mutex(ContinuousClock.now)
        let uploads = Uploads(roomBytes: 100) { clock.withLock { $0 } }
        for id in ["1", "2"] as [UTF8Key] {
            #expect(try await send(id, of: "a", byteCount: 50, to: uploads))
            clock.withLock { $0 += .seconds(1) }
        }
        #expect(uploads.upload("1", for: "a", in: .standard) != nil)
        #expect(try await send("3", of: "b", byteCount: 10, to: uploads) == false)
        #expect(try await send("4", of: "a", byteCount: 10, to: uploads))
        #expect(uploads.upload("1", for: "a", in: .standard) != nil)
        #expect(uploads.upload("2", for: "a", in: .standard) == nil)
        clock.withLock { $0 += Uploads.maximumIdle }
        #expect(try await send("5", of: "b", byteCount: 100, to: uploads))
    }

    @Test("A visitor keeps a few files, and takes no place from others")
    func counts() async throws {
        let uploads = Uploads()
        for number in 0...Uploads.maximumVisitorCount { #expect(try await send(UTF8Key("\(number)"), of: "0", to: uploads)) }
        #expect(uploads.upload("0", for: "0", in: .standard) == nil)
        #expect(uploads.upload("1", for: "0", in: .standard) != nil)
        var visitor = 0
        while visitor < 100, try await send("x", of: UTF8Key("visitor \(visitor)"), to: uploads) { visitor += 1 }
        #expect(visitor == 90)
        #expect(uploads.upload("1", for: "0", in: .standard) != nil)
        #expect(try await send("y", of: "0", to: uploads))
    }
}
