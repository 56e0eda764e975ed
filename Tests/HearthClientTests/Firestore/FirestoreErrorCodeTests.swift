import Foundation
import HearthClient
import Testing

@Suite("Firestore error codes")
struct FirestoreErrorCodeTests {
    @Test func `An error that the program makes is recognized as those of the library are`() throws {
        let error: any Error = FirestoreErrorCode(.aborted)
        #expect(FirestoreErrorCode(error) == FirestoreErrorCode(.aborted))
        do {
            throw error
        } catch FirestoreErrorCode.aborted {
        } catch {
            Issue.record("\(error)")
        }
        let bridged = NSError(domain: FirestoreErrorCode.errorDomain, code: FirestoreErrorCode.notFound.rawValue)
        #expect(FirestoreErrorCode(bridged)?.code == .notFound)
        #expect(FirestoreErrorCode(.notFound).errorCode == bridged.code)
        #expect(FirestoreErrorCode(NSError(domain: "other", code: 5)) == nil)
        #expect(FirestoreErrorCode(CancellationError()) == nil)
    }
}
