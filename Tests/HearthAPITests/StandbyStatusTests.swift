import DocumentModel
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Status of a standby") struct StandbyStatusTests {
    @Test func `The row of snapshots of a database that is followed ends, also beside one that is not`() throws {
        let (status, id) = (StandbyStatus(primary: "http://primary"), try DatabaseID("shop/tests", inProject: "hearth"))
        for database in [nil, nil, id] { status.didTakeSnapshot(of: database) }
        status.endSnapshotRows(except: [id])
        #expect(status.snapshotsInRow(of: nil) == 0 && status.snapshotsInRow(of: id) == 1)
        status.endSnapshotRows(except: [])
        #expect(status.snapshotsInRow(of: id) == 0 && status.snapshotCount == 3)
    }
}
