// Value types shared with the document model.
@_exported public import struct DocumentModel.FieldPath
@_exported public import struct DocumentModel.GeoPoint
@_exported public import struct DocumentModel.Timestamp
