// The types of values that are the same here and in the model. A type that only the client has is declared here.
@_exported public import struct DocumentModel.FieldPath
@_exported public import struct DocumentModel.GeoPoint
@_exported public import struct DocumentModel.Timestamp
