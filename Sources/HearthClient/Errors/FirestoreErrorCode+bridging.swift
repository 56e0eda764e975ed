#if canImport(ObjectiveC)
public import Foundation

extension FirestoreErrorCode: _ObjectiveCBridgeableError {
    /// Returns the code of an error, for casts such as `error as? FirestoreErrorCode`; `nil` for an error from another domain.
    public init?(_bridgedNSError error: __shared NSError) {
        self.init(error as any Error)
    }
}
#endif
